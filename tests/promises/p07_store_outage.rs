//! 7. While the store is away writes and fsync wait; when it is back they succeed, and nothing is lost.

use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use stoa_tests::{Setup, StoreKind, content, in_place};

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
