//! Buckets whose owner lets requesters pay.

use crate::setting::pattern;
use anyhow::{Context, Result, ensure};
use std::io::ErrorKind;
use std::time::Duration;
use stoa_tests::command::shell;
use stoa_tests::{Objects, Place, Setup, StoreKind, in_place};

const LIMIT: Duration = Duration::from_secs(120);

/// Runs a test over a bucket that refuses every request that does not say who pays; `after` looks at what is in it then.
fn with_toll(
    name: &'static str,
    test: impl FnOnce(&mut Place) -> Result<()>,
    after: impl FnOnce(&Objects) -> Result<()>,
) -> Result<()> {
    in_place(Setup::new(name).store(StoreKind::S3s).empty(), |place| {
        let objects = Objects::of(place.store()?)?;
        objects.put("dir/file", b"content")?;
        objects.put("large", &pattern(1, 20 << 20))?;
        place.store()?.toll(true)?;
        test(place)?;
        place.store()?.toll(false)?;
        after(&objects)
    })
}

#[test]
fn who_says_that_he_pays_may_do_everything() -> Result<()> {
    let script = r"
        test $(cat dir/file) = content
        echo new > dir/new; mkdir made; cp large made/copy; ln -s file dir/link
        chmod 0600 dir/file; mv dir/file moved; mv made renamed; rm large
        printf X | dd of=renamed/copy bs=1 seek=9000000 conv=notrunc status=none
    ";
    with_toll(
        "requester-pays",
        |place| {
            place.mount(&["--objects", "--requester-pays", "--attributes", "objects"])?;
            shell(script, place.dir(), LIMIT)?;
            place.unmount()
        },
        |objects| {
            let mut copy = pattern(1, 20 << 20);
            *copy.get_mut(9_000_000).context("too short")? = b'X';
            ensure!(
                objects.keys()? == ["dir/link", "dir/new", "moved", "renamed/", "renamed/copy"],
                "{:?}",
                objects.keys()?
            );
            ensure!(objects.get("renamed/copy")? == Some(copy), "the copy");
            ensure!(objects.uploads()? == 0, "an unfinished upload");
            Ok(())
        },
    )
}

#[test]
fn who_does_not_is_refused() -> Result<()> {
    with_toll(
        "requester-does-not-pay",
        |place| {
            place.mount(&["--objects"])?;
            let refused = |done: std::io::Result<()>, what: &str| {
                let kind = done.as_ref().map_err(std::io::Error::kind);
                ensure!(kind == Err(ErrorKind::PermissionDenied), "{what}: {done:?}");
                Ok(())
            };
            refused(std::fs::read(place.path("large")).map(drop), "read")?;
            refused(std::fs::read_dir(place.dir()).and_then(|mut all| all.next().transpose()).map(drop), "list")?;
            refused(std::fs::write(place.path("new"), "x"), "write")?;
            refused(std::fs::rename(place.path("large"), place.path("other")), "rename")?;
            place.unmount()
        },
        |objects| {
            ensure!(objects.keys()? == ["dir/file", "large"], "{:?}", objects.keys()?);
            Ok(())
        },
    )
}
