//! 21. A mount that nobody uses sends no request to its store.

use anyhow::{Result, ensure};
use std::fs::File;
use std::time::{Duration, Instant};
use stoa_tests::command::until;
use stoa_tests::{Place, Setup, StoreKind, in_place, scale, tree};

/// Twice as long as the longest interval at which the mount looks whether there is something to do, the cleaner's.
const SETTLED: Duration = Duration::from_secs(20);

#[test]
fn p21_no_request_while_idle() -> Result<()> {
    in_place(Setup::new("p21").store(StoreKind::S3s).limit(scale::minutes(5, 10)), |place| {
        tree::plant(&place.path("tree"), 300, 21)?;
        // Dead segments too, so that the cleaner has work.
        std::fs::remove_dir_all(place.path("tree/d0"))?;
        tree::survey(place.dir())?;
        // Data and times that the kernel would bring later, and then what they changed here.
        let dir = File::open(place.dir())?;
        rustix::fs::syncfs(&dir)?;
        dir.sync_all()?;
        drop(dir);
        wait_until_quiet(place)?;
        let before = place.store()?.requests()?;
        ensure!(before > 0, "the requests are not counted");
        std::thread::sleep(Duration::from_secs(scale::pick(15, 75)));
        let sent = place.store()?.requests()? - before;
        ensure!(sent == 0, "{sent} requests while idle");
        Ok(())
    })
}

/// Waits until no request has come for a while: what was done is committed, tables are merged, space is given back.
fn wait_until_quiet(place: &mut Place) -> Result<()> {
    let store = place.store()?;
    let (mut seen, mut since) = (store.requests()?, Instant::now());
    until("the mount has done its work", scale::minutes(2, 3), || {
        let requests = store.requests()?;
        if requests != seen {
            (seen, since) = (requests, Instant::now());
        }
        Ok(since.elapsed() >= SETTLED)
    })
}
