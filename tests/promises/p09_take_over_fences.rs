//! 9. `--take-over` shuts the first mount out: it refuses writes, and its fsync fails rather than lie. Who waits there hears of
//!    it.

use anyhow::{Context, Result, ensure};
use rustix::fs::{CWD, Mode, OFlags, openat};
use serde_json::Value;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};
use stoa_tests::command::{Output, until};
use stoa_tests::{Setup, StoreKind, content, in_place};

/// How soon who waits must hear that the mount is fenced. A commit finds out, and one is made every second.
const FENCED_LIMIT: Duration = Duration::from_secs(60);

#[test]
fn p09_the_first_mount_is_fenced() -> Result<()> {
    in_place(Setup::new("p09").store(StoreKind::s3()), |place| {
        let durable = content::bytes(1, 200_000);
        let file = File::create(place.path("file"))?;
        file.write_all_at(&durable, 0)?;
        file.sync_all()?;
        let second = place.mount_on(&place.scratch().join("second"), &["--take-over"])?;
        content::check(&second.dir().join("file"), &durable)?;
        std::fs::write(second.dir().join("second"), "by the second")?;

        // Written into the kernel's cache, or refused at once; acknowledged by fsync, never.
        let written = file.write_all_at(b"too late", 0).and_then(|()| file.sync_all());
        ensure!(written.is_err(), "the fenced mount acknowledged an fsync");
        until("the fenced mount refuses new files", Duration::from_secs(30), || {
            Ok(File::create(place.path("new")).is_err_and(|error| error.kind() == ErrorKind::ReadOnlyFilesystem))
        })?;

        second.unmount()?;
        drop(file);
        drop(place.taken()?);
        place.mount(&[])?;
        content::check(&place.path("file"), &durable)?;
        content::check(&place.path("second"), b"by the second")?;
        ensure!(!place.path("new").exists(), "the fenced mount made a file");
        place.unmount()?;
        place.expect_clean()?;
        Ok(())
    })
}

#[test]
fn p09_who_waits_gets_an_error() -> Result<()> {
    let setup = Setup::new("p09-waiting").store(StoreKind::S3s).limit(Duration::from_secs(300));
    in_place(setup, |place| {
        place.unmount()?;
        place.mount(&["--memory", "64M"])?;
        place.store()?.lose("data")?;
        let synced = File::create(place.path("synced"))?;
        synced.write_all_at(&content::bytes(8, 100_000), 0)?;
        let synced = in_background(move || synced.sync_all());
        let written = Arc::new(AtomicU64::new(0));
        let file = unbuffered(place.path("written"))?;
        let counted = Arc::clone(&written);
        let wrote = in_background(move || write_for_ever(&file, &counted));
        wait_until_stalled(&written)?;

        let second = place.mount_on(&place.scratch().join("second"), &["--take-over"])?;
        // The first hears of that when it next commits. What the two wait for never comes: the store still loses all data.
        drop(File::create(place.path("new")));
        for (what, outcome) in [("write", wrote), ("fsync", synced)] {
            let ended = outcome.recv_timeout(FENCED_LIMIT).with_context(|| format!("the {what} waits for ever"))?;
            let error = ended.map_err(|error| error.kind());
            ensure!(error == Err(ErrorKind::ReadOnlyFilesystem), "the {what} ended with {error:?}");
        }

        place.store()?.accept()?;
        drop(place.taken()?);
        second.unmount()?;
        place.expect_clean()?;
        Ok(())
    })
}

#[test]
fn p09_the_first_mount_says_what_became_of_it() -> Result<()> {
    in_place(Setup::new("p09-said").store(StoreKind::s3()), |place| {
        let second = place.mount_on(&place.scratch().join("second"), &["--take-over"])?;
        // Nothing is on its way into the store: what is written now is known to be lost.
        std::fs::write(place.path("lost"), content::bytes(2, 3 << 20))?;
        until("the first mount knows", FENCED_LIMIT, || {
            Ok(place.status()?.pointer("/0/volume/fenced").is_some_and(Value::is_string))
        })?;
        let dir = place.dir().to_owned();
        let refused = place.stoa_on("umount", &[], &dir)?;
        expect_words(
            &refused,
            &["has taken its volume over", "3.0 MiB", "lost", "--force"],
            &["when the store is back"],
        )?;
        second.unmount()?;

        let checked = place.stoa("fsck", &["--data"])?;
        ensure!(checked.status.success(), "the first mount was asked: {}", checked.quoted());
        let forced = place.stoa_on("umount", &["--force"], &dir)?;
        expect_words(
            &forced,
            &["is unmounted, but", "lost: 3.0 MiB"],
            &["while its process lives", "fenced: this mount"],
        )?;
        ensure!(std::fs::read_dir(&dir)?.next().is_none(), "still mounted");
        drop(place.taken()?);
        place.expect_clean()?;
        Ok(())
    })
}

#[test]
fn p09_a_mount_that_has_not_heard_of_it_checks_nothing() -> Result<()> {
    in_place(Setup::new("p09-unaware"), |place| {
        let second = place.mount_on(&place.scratch().join("second"), &["--take-over"])?;
        std::fs::write(second.dir().join("new"), "by the second")?;
        second.unmount()?;
        let checked = place.stoa("fsck", &["--data"])?;
        ensure!(checked.status.success() && checked.stdout.contains("2 inodes"), "an old state: {}", checked.quoted());
        drop(place.taken()?);
        Ok(())
    })
}

#[test]
fn p09_a_reader_that_was_shut_out_is_unmounted() -> Result<()> {
    in_place(Setup::new("p09-reader"), |place| {
        place.unmount()?;
        place.mount(&["-o", "ro"])?;
        let second = place.mount_on(&place.scratch().join("second"), &["--take-over"])?;
        second.unmount()?;
        ensure!(place.stoa("fsck", &[])?.status.success(), "the reader was asked to check");
        place.unmount()
    })
}

/// Fails unless a command failed with all of `said`, and nothing of `unsaid`, in its message.
fn expect_words(output: &Output, said: &[&str], unsaid: &[&str]) -> Result<()> {
    let text = output.quoted();
    ensure!(output.status.code() == Some(1), "{}: {text}", output.status);
    ensure!(said.iter().all(|word| text.contains(word)), "not all of {said:?}: {text}");
    ensure!(!unsaid.iter().any(|word| text.contains(word)), "one of {unsaid:?}: {text}");
    Ok(())
}

fn in_background(work: impl FnOnce() -> std::io::Result<()> + Send + 'static) -> Receiver<std::io::Result<()>> {
    let (report, outcome) = mpsc::channel();
    // The test may be over when it ends.
    std::thread::spawn(move || report.send(work()));
    outcome
}

/// A file written past the page cache: write(2) waits for the mount, and hears what becomes of it.
fn unbuffered(path: std::path::PathBuf) -> Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::DIRECT;
    Ok(File::from(openat(CWD, path, flags, Mode::from_raw_mode(0o600))?))
}

/// Writes MiB after MiB, counting them, until one fails.
fn write_for_ever(file: &File, written: &AtomicU64) -> std::io::Result<()> {
    let piece = content::bytes(9, 1 << 20);
    loop {
        file.write_all_at(&piece, written.load(Ordering::Relaxed) << 20)?;
        written.fetch_add(1, Ordering::Relaxed);
    }
}

/// Waits until the writer has filled the memory that there is for it, a quarter of all, and has got no further for a while.
fn wait_until_stalled(written: &AtomicU64) -> Result<()> {
    let (mut seen, mut since) = (0, Instant::now());
    until("the writer waits for memory", Duration::from_secs(60), || {
        let now = written.load(Ordering::Relaxed);
        if now != seen {
            (seen, since) = (now, Instant::now());
        }
        Ok(now >= 8 && since.elapsed() > Duration::from_secs(3))
    })
}
