//! Files that are written through a mount are objects for everybody else.

use crate::setting::{over_objects, over_objects_in, pattern, requests};
use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::io::Write;
use std::time::Duration;
use stoa_tests::command::shell;
use stoa_tests::{Objects, StoreKind};

const MIB: usize = 1 << 20;
const LIMIT: Duration = Duration::from_secs(120);

fn nothing(_: &Objects) -> Result<()> {
    Ok(())
}

fn expect(objects: &Objects, key: &str, content: &[u8]) -> Result<()> {
    let found = objects.get(key)?.with_context(|| format!("there is no object {key}"))?;
    ensure!(found == content, "{key}: {} bytes, and not the {} that were written", found.len(), content.len());
    Ok(())
}

#[test]
fn what_shells_do() -> Result<()> {
    let script =
        "echo one > file; echo two >> file; mkdir -p a/b; cp file a/b/copy; cat file a/b/copy > both; touch empty
        : > file; echo three > a/b/copy; ls -l a/b | grep -q copy; test \"$(cat a/b/copy)\" = three";
    over_objects("shell", &[], nothing, |place, objects| {
        shell(script, place.dir(), LIMIT)?;
        expect(objects, "both", b"one\ntwo\none\ntwo\n")?;
        expect(objects, "a/b/copy", b"three\n")?;
        expect(objects, "file", b"")?;
        expect(objects, "empty", b"")?;
        shell("rm file both empty; rm -r a; test -z \"$(ls)\"", place.dir(), LIMIT)?;
        ensure!(objects.keys()?.is_empty(), "{:?}", objects.keys()?);
        Ok(())
    })
}

#[test]
fn a_large_file_appears_when_it_is_closed() -> Result<()> {
    let content = pattern(1, 50 * MIB + 4321);
    over_objects("large", &[], nothing, |place, objects| {
        let mut file = File::create(place.path("large"))?;
        for part in content.chunks(3 * MIB + 7) {
            file.write_all(part)?;
        }
        // Whether it is there by now is not asked: a process that another test starts closes its copy of the descriptor.
        file.sync_all()?;
        expect(objects, "large", &content)?;
        file.write_all(b"and more")?;
        drop(file);
        expect(objects, "large", &[content.as_slice(), b"and more"].concat())?;
        ensure!(std::fs::read(place.path("large"))?.len() == content.len() + 8, "read back");
        ensure!(objects.uploads()? == 0, "unfinished uploads");
        Ok(())
    })
}

#[test]
fn a_tree_is_copied() -> Result<()> {
    over_objects("tree", &[], nothing, |place, _| {
        let tree = place.scratch().join("tree");
        stoa_tests::tree::plant(&tree, 150, 5)?;
        shell(
            "find tree -type l -delete; cp -r --no-preserve=all tree files/copy; diff -r --no-dereference tree files/copy",
            place.scratch(),
            LIMIT,
        )?;
        shell("rm -r copy; test -z \"$(ls)\"", place.dir(), LIMIT)?;
        Ok(())
    })
}

#[test]
fn a_small_file_costs_one_put() -> Result<()> {
    over_objects(
        "cost",
        &[],
        |objects| objects.put("dir/other", b"x"),
        |place, _| {
            ensure!(std::fs::read_dir(place.path("dir"))?.count() == 1, "one file");
            // The listing says that there is none.
            let (_, cost) = requests(place, || Ok(std::fs::write(place.path("dir/new"), "content")?))?;
            ensure!(cost == 1, "{cost} requests");
            let (_, cost) = requests(place, || Ok(std::fs::write(place.path("dir/next"), "content")?))?;
            ensure!(cost <= 4, "{cost} requests");
            Ok(())
        },
    )
}

#[test]
fn what_cannot_be_done_is_said() -> Result<()> {
    over_objects(
        "refused",
        &[],
        |objects| objects.put("file", b"content"),
        |place, objects| {
            let refused =
                |result: std::io::Result<()>| result.is_err_and(|error| error.raw_os_error() == Some(libc::ENOTSUP));
            ensure!(refused(std::fs::hard_link(place.path("file"), place.path("other"))), "link");
            ensure!(refused(std::os::unix::fs::symlink("file", place.path("other"))), "symlink");
            let middle = File::options().write(true).open(place.path("file"))?;
            ensure!(refused(std::os::unix::fs::FileExt::write_all_at(&middle, b"X", 3)), "in the middle");
            drop(middle);
            expect(objects, "file", b"content")
        },
    )
}

#[test]
fn what_somebody_else_wrote_is_not_lost() -> Result<()> {
    over_objects(
        "conflict",
        &[],
        |objects| objects.put("file", b"old"),
        |place, objects| {
            let mut file = File::create(place.path("file"))?;
            file.write_all(b"mine")?;
            objects.put("file", b"of somebody else")?;
            let synced = file.sync_all();
            ensure!(synced.is_err_and(|error| error.raw_os_error() == Some(libc::ESTALE)), "it was overwritten");
            drop(file);
            expect(objects, "file", b"of somebody else")?;
            ensure!(std::fs::read(place.path("file"))? == b"of somebody else", "read");
            Ok(())
        },
    )
}

#[test]
fn who_may_not_write_is_told_and_leaves_nothing() -> Result<()> {
    over_objects_in(
        "denied",
        StoreKind::S3s,
        &[],
        |objects| objects.put("old", b"content"),
        |place, objects| {
            place.store()?.refuse("volume")?;
            let denied =
                |result: std::io::Result<()>| result.is_err_and(|error| error.raw_os_error() == Some(libc::EACCES));
            for len in [0, 100, 30 * MIB] {
                // The kernel gives the file before it back some time after it was closed: until then, opening it says why it failed.
                let written = File::create(place.path("new")).and_then(|mut file| {
                    file.write_all(&pattern(1, len))?;
                    file.sync_all()
                });
                ensure!(denied(written), "{len} bytes");
            }
            ensure!(shell("touch touched", place.dir(), LIMIT).is_err(), "touch");
            let append = File::options().append(true).open(place.path("old")).and_then(|mut file| {
                file.write_all(b"more")?;
                file.sync_all()
            });
            ensure!(denied(append), "append");
            place.store()?.accept()?;
            ensure!(objects.keys()? == ["old"] && objects.uploads()? == 0, "{:?}", objects.keys()?);
            expect(objects, "old", b"content")?;
            // And from now on it can.
            std::fs::write(place.path("later"), "content")?;
            expect(objects, "later", b"content")
        },
    )
}
