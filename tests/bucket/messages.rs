//! What can't be mounted is refused with a message that says what to do.

use crate::setting::over_objects;
use anyhow::{Result, ensure};
use stoa_tests::{Objects, Setup, StoreKind, in_place};

fn expect(place: &stoa_tests::Place, args: &[&str], target: &std::ffi::OsStr, words: &[&str]) -> Result<()> {
    let other = place.scratch().join("other");
    std::fs::create_dir_all(&other)?;
    let dir = other.to_string_lossy().into_owned();
    // The directory comes last on the command line, after the store.
    let store = target.to_string_lossy().into_owned();
    let said = place.stoa_on("mount", &[args, &["--foreground", &store]].concat(), &dir)?;
    let text = said.quoted();
    ensure!(!said.status.success() && !text.contains("panicked"), "{text}");
    for word in words {
        ensure!(text.contains(word), "the message lacks {word:?}: {text}");
    }
    Ok(())
}

#[test]
fn a_bucket_without_a_volume_names_the_two_choices() -> Result<()> {
    over_objects(
        "choices",
        &[],
        |objects| objects.put("cat.jpg", b"x"),
        |place, _| {
            let url = place.store()?.url().clone();
            expect(place, &[], &url, &["no Stoa volume", "stoa format", "--objects"])?;
            expect(place, &["--objects", "--create"], &url, &["--create"])?;
            expect(place, &["--ttl", "5s"], &url, &["--objects"])?;
            expect(place, &["--objects"], "s3://no-such-bucket/x".as_ref(), &["no-such-bucket"])
        },
    )
}

#[test]
fn a_directory_has_no_objects() -> Result<()> {
    in_place(Setup::new("no-objects").store(StoreKind::Directory).empty(), |place| {
        let here = place.scratch().as_os_str().to_owned();
        expect(place, &["--objects"], &here, &["--objects", "S3", "s3://BUCKET"])
    })
}

#[test]
fn a_time_to_live_of_nothing_sees_every_change() -> Result<()> {
    let plant = |objects: &Objects| objects.put("file", b"old");
    over_objects("ttl", &["--ttl", "0"], plant, |place, objects| {
        ensure!(std::fs::read(place.path("file"))? == b"old", "old");
        objects.put("file", b"newer")?;
        objects.put("other", b"x")?;
        ensure!(std::fs::read(place.path("file"))? == b"newer", "newer");
        ensure!(std::fs::read_dir(place.dir())?.count() == 2, "two names");
        objects.delete("file")?;
        ensure!(!place.path("file").exists() && place.path("other").exists(), "one name");
        Ok(())
    })
}
