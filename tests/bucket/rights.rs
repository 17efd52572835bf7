//! What the credentials do not allow is refused at the call that needs it.

use anyhow::{Result, ensure};
use std::fs::File;
use std::io::Write;
use std::time::Duration;
use stoa_tests::command::{not_run, shell};
use stoa_tests::{Objects, Place, Setup, StoreKind, TestStore, in_place};

const READ: [&str; 2] = ["s3:ListBucket", "s3:GetObject"];

/// Runs a test over objects, mounted by somebody who may do nothing but `actions`.
fn restricted(name: &'static str, actions: &[&str], test: impl Fn(&mut Place, &Objects) -> Result<()>) -> Result<()> {
    mounted(name, |store| store.restrict(actions), test)
}

fn mounted(
    name: &'static str,
    limit: impl Fn(&mut TestStore) -> Result<()>,
    test: impl Fn(&mut Place, &Objects) -> Result<()>,
) -> Result<()> {
    if StoreKind::s3() != StoreKind::Versitygw {
        return not_run(name, "versitygw is not installed");
    }
    in_place(Setup::new(name).store(StoreKind::Versitygw).empty(), |place| {
        let objects = Objects::of(place.store()?)?;
        objects.put("file", b"content")?;
        objects.put("dir/below", b"x")?;
        limit(place.store()?)?;
        place.mount(&["--objects"])?;
        test(place, &objects)?;
        place.unmount()?;
        ensure!(objects.uploads()? == 0, "an unfinished upload");
        Ok(())
    })
}

fn denied<T>(result: std::io::Result<T>) -> bool {
    result.is_err_and(|error| error.raw_os_error() == Some(libc::EACCES))
}

#[test]
fn who_may_only_read_is_told_when_a_file_is_made_or_opened() -> Result<()> {
    restricted("read-only", &READ, |place, objects| {
        ensure!(std::fs::read(place.path("file"))? == b"content", "read");
        ensure!(shell("touch new", place.dir(), Duration::from_secs(20)).is_err(), "touch");
        ensure!(denied(File::create(place.path("new"))), "create");
        ensure!(denied(File::create(place.path("dir/new"))), "create in a directory");
        ensure!(denied(File::create(place.path("file"))), "cut to nothing");
        ensure!(denied(File::options().append(true).open(place.path("file"))), "append");
        ensure!(denied(std::fs::create_dir(place.path("d"))), "mkdir");
        ensure!(denied(std::fs::remove_file(place.path("file"))), "remove");
        ensure!(!place.path("new").exists() && std::fs::read_dir(place.dir())?.count() == 2, "a phantom");
        ensure!(std::fs::read(place.path("file"))? == b"content", "read again");
        ensure!(objects.keys()? == ["dir/below", "file"], "{:?}", objects.keys()?);
        Ok(())
    })
}

#[test]
fn a_public_bucket_is_read_without_credentials() -> Result<()> {
    mounted(
        "public",
        |store| store.publish(&READ),
        |place, objects| {
            ensure!(std::fs::read(place.path("file"))? == b"content", "read");
            ensure!(std::fs::read_dir(place.path("dir"))?.count() == 1, "list");
            ensure!(denied(File::create(place.path("new"))), "create");
            ensure!(denied(std::fs::remove_file(place.path("file"))), "remove");
            ensure!(objects.keys()? == ["dir/below", "file"], "{:?}", objects.keys()?);
            Ok(())
        },
    )
}

#[test]
fn who_may_not_remove_may_write() -> Result<()> {
    let actions = [READ.as_slice(), &["s3:PutObject", "s3:AbortMultipartUpload"]].concat();
    restricted("no-delete", &actions, |place, objects| {
        std::fs::write(place.path("dir/new"), "content")?;
        ensure!(denied(std::fs::remove_file(place.path("dir/new"))), "remove");
        ensure!(std::fs::read(place.path("dir/new"))? == b"content", "it is still there");
        ensure!(objects.get("dir/new")?.as_deref() == Some(b"content"), "and there");
        Ok(())
    })
}

#[test]
fn who_may_only_write_does_not_read() -> Result<()> {
    let actions = ["s3:ListBucket", "s3:PutObject", "s3:AbortMultipartUpload"];
    restricted("write-only", &actions, |place, objects| {
        let mut new = File::create(place.path("new"))?;
        new.write_all(b"content")?;
        new.sync_all()?;
        ensure!(denied(std::fs::read(place.path("file"))), "read");
        ensure!(objects.get("new")?.as_deref() == Some(b"content"), "written");
        Ok(())
    })
}
