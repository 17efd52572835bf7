//! 7. While the store is away writes and fsync wait; when it is back they succeed, and nothing is lost. When it refuses what is
//!    written, fsync says so, and succeeds once it is taken again.

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::Child;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use stoa_tests::command::{program, until};
use stoa_tests::{Place, Setup, StoreKind, content, in_place, tools};

/// How soon fsync must say that the store refuses: rights that are being put right are waited for, 30 s, and the rest is
/// for a machine under load.
const REFUSAL_LIMIT: Duration = Duration::from_secs(90);

const OUTAGE: Duration = Duration::from_secs(8);

#[test]
fn p07_fsync_waits_for_the_store() -> Result<()> {
    in_place(Setup::new("p07").store(StoreKind::s3()), |place| {
        std::fs::write(place.path("before"), content::bytes(1, 3 << 20))?;
        let file = File::create(place.path("during"))?;
        place.store()?.stop()?;
        let (report, outcome) = mpsc::channel();
        std::thread::spawn(move || {
            let written = file.write_all_at(&content::bytes(2, 5 << 20), 0).and_then(|()| file.sync_all());
            // The test may be over by now.
            let _ = report.send(written);
        });
        match outcome.recv_timeout(OUTAGE) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(early) => anyhow::bail!("fsync returned {early:?} while the store was away"),
            Err(error) => return Err(error.into()),
        }
        // What is cached can be read all along.
        content::check(&place.path("before"), &content::bytes(1, 3 << 20))?;
        place.store()?.resume()?;
        outcome.recv_timeout(Duration::from_secs(60)).context("fsync still waits")?.context("fsync failed")?;
        place.kill()?;
        place.mount(&[])?;
        content::check(&place.path("during"), &content::bytes(2, 5 << 20))?;
        place.unmount()?;
        place.expect_clean()?;
        Ok(())
    })
}

#[test]
fn p07_unmount_waits_for_the_store() -> Result<()> {
    in_place(Setup::new("p07-unmount").store(StoreKind::s3()), |place| {
        std::fs::write(place.path("file"), content::bytes(3, 3 << 20))?;
        place.store()?.stop()?;
        let mount = place.taken()?;
        let unmount = std::thread::spawn(move || mount.unmount());
        std::thread::sleep(OUTAGE);
        ensure!(!unmount.is_finished(), "unmounted while the store was away");
        place.store()?.resume()?;
        unmount.join().map_err(|_| anyhow::anyhow!("the unmount panicked"))??;
        place.mount(&[])?;
        content::check(&place.path("file"), &content::bytes(3, 3 << 20))
    })
}

#[test]
fn p07_an_unmount_that_waits_says_so() -> Result<()> {
    in_place(Setup::new("p07-said").store(StoreKind::s3()), |place| {
        std::fs::write(place.path("file"), content::bytes(6, 3 << 20))?;
        place.store()?.stop()?;
        let said = place.scratch().join("said");
        let mut umount = program(tools::stoa()?).arg("umount").arg(place.dir()).stderr(File::create(&said)?).spawn()?;
        let told = until("the unmount says what it waits for", Duration::from_secs(20), || {
            let said = std::fs::read_to_string(&said)?;
            Ok(["waiting for the store", "not in the store yet", "^C"].iter().all(|words| said.contains(words)))
        });
        interrupt(&umount)?;
        umount.wait()?;
        told?;
        content::check(&place.path("file"), &content::bytes(6, 3 << 20))?;
        place.store()?.resume()?;
        place.unmount()
    })
}

#[test]
fn p07_who_waits_for_the_store_can_be_ended() -> Result<()> {
    in_place(Setup::new("p07-ended").store(StoreKind::s3()), |place| {
        let file = place.path("file");
        std::fs::write(&file, content::bytes(7, 3 << 20))?;
        place.store()?.stop()?;
        let mut sync = program("sync").arg(&file).spawn()?;
        // It has nothing else to do.
        std::thread::sleep(Duration::from_secs(2));
        ensure!(sync.try_wait()?.is_none(), "synced, with no store");
        interrupt(&sync)?;
        let ended = until("the program ends", Duration::from_secs(20), || Ok(sync.try_wait()?.is_some()));
        place.store()?.resume()?;
        sync.wait()?;
        ended?;
        File::open(&file)?.sync_all()?;
        place.kill()?;
        place.mount(&[])?;
        content::check(&place.path("file"), &content::bytes(7, 3 << 20))?;
        place.unmount()
    })
}

/// What ^C does.
fn interrupt(child: &Child) -> Result<()> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("no process")?;
    Ok(kill_process(pid, Signal::INT)?)
}

#[test]
fn p07_fsync_fails_while_data_is_refused() -> Result<()> {
    fsync_fails_while_refused("p07-refused", "data")
}

#[test]
fn p07_fsync_fails_while_the_namespace_is_refused() -> Result<()> {
    fsync_fails_while_refused("p07-refused-names", "meta")
}

fn fsync_fails_while_refused(name: &'static str, folder: &str) -> Result<()> {
    let setup = Setup::new(name).store(StoreKind::S3s).limit(Duration::from_secs(300));
    in_place(setup, |place| {
        std::fs::write(place.path("before"), content::bytes(4, 3 << 20))?;
        // Nothing is cached: reading must get to the store while it refuses writes.
        place.remount()?;
        let file = File::create(place.path("refused"))?;
        place.store()?.refuse(folder)?;
        file.write_all_at(&content::bytes(5, 5 << 20), 0)?;
        expect_refusal(&file)?;
        content::check(&place.path("before"), &content::bytes(4, 3 << 20))?;
        content::check(&place.path("refused"), &content::bytes(5, 5 << 20))?;
        ensure!(std::fs::read_dir(place.dir())?.count() == 2, "the names can't be read");
        place.store()?.accept()?;
        expect_recovery(place, &file)
    })
}

/// fsync fails, with EIO, and before long.
fn expect_refusal(file: &File) -> Result<()> {
    let (report, outcome) = mpsc::channel();
    let file = file.try_clone()?;
    // The test may be over when it answers.
    std::thread::spawn(move || report.send(file.sync_all()));
    let synced = outcome.recv_timeout(REFUSAL_LIMIT).context("fsync hangs while the store refuses")?;
    let errno = synced.map_err(|error| error.raw_os_error());
    ensure!(errno == Err(Some(libc::EIO)), "fsync returned {errno:?} while the store refused");
    Ok(())
}

/// Without any help fsync succeeds again, and what was refused is durable then.
fn expect_recovery(place: &mut Place, file: &File) -> Result<()> {
    until("fsync succeeds, now that the store takes data", REFUSAL_LIMIT, || Ok(file.sync_all().is_ok()))?;
    place.kill()?;
    place.mount(&[])?;
    content::check(&place.path("before"), &content::bytes(4, 3 << 20))?;
    content::check(&place.path("refused"), &content::bytes(5, 5 << 20))?;
    place.unmount()?;
    place.expect_clean()?;
    Ok(())
}
