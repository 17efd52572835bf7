//! 2. The namespace found after a kill is one that the mount had: the operations up to some moment, and none after it.
//!    That moment is not long ago, though nobody asked for anything to be durable.

use anyhow::{Result, ensure};
use std::path::Path;
use std::time::Duration;
use stoa_tests::{Place, Setup, StoreKind, content, in_place, scale, tree};

/// Far longer than a second, the commit interval: a machine under load decides nothing. Far shorter than for ever.
const DURABLE_LIMIT: Duration = Duration::from_secs(45);

#[test]
fn p02_no_gaps_after_kill() -> Result<()> {
    in_place(Setup::new("p02").limit(scale::minutes(4, 20)), |place| {
        for round in 0..scale::pick(4, 40) {
            let base = format!("round{round}");
            let delay = Duration::from_millis(300 + 577 * (round % 5));
            let done = place.kill_during(delay, |dir| work(&dir.join(&base)))?;
            place.mount(&[])?;
            check(place, &base, done)?;
        }
        place.unmount()?;
        place.expect_clean()?;
        Ok(())
    })
}

#[test]
fn p02_names_are_durable_unasked() -> Result<()> {
    // No data, so nothing but the commits of the namespace can make these durable.
    durable_unasked("p02-names", |base| {
        std::fs::create_dir(base)?;
        for number in 0..50 {
            std::fs::File::create(base.join(format!("old{number}")))?;
            std::fs::rename(base.join(format!("old{number}")), base.join(format!("new{number}")))?;
            std::os::unix::fs::symlink("new0", base.join(format!("link{number}")))?;
        }
        Ok(())
    })
}

#[test]
fn p02_data_is_durable_unasked() -> Result<()> {
    // Inline, a piece of a segment, and several segments.
    durable_unasked("p02-data", |base| {
        std::fs::create_dir(base)?;
        for (seed, len) in [10, 5000, 70_000, 500_000, 40 << 20].into_iter().enumerate() {
            std::fs::write(base.join(format!("f{seed}")), content::bytes(seed as u64, len))?;
        }
        Ok(())
    })
}

/// Does `work`, syncs nothing, waits until the mount says that all is stored, kills it, and finds everything.
fn durable_unasked(name: &'static str, work: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    in_place(Setup::new(name).store(StoreKind::s3()), |place| {
        work(&place.path("base"))?;
        let expected = tree::survey(place.dir())?;
        place.wait_until_stored(DURABLE_LIMIT)?;
        place.kill()?;
        place.mount(&[])?;
        tree::compare(&tree::survey(place.dir())?, &expected)?;
        place.unmount()?;
        place.expect_clean()?;
        Ok(())
    })
}

/// Four operations a step, none of them synced; returns how many steps were whole.
fn work(base: &Path) -> u64 {
    let step = |number: u64| -> std::io::Result<()> {
        std::fs::create_dir(base.join(format!("a{number}")))?;
        std::fs::File::create(base.join(format!("a{number}/file")))?;
        std::fs::rename(base.join(format!("a{number}")), base.join(format!("b{number}")))?;
        std::fs::hard_link(base.join(format!("b{number}/file")), base.join(format!("link{number}")))
    };
    if std::fs::create_dir(base).is_err() {
        return 0;
    }
    (0..).take_while(|&number| step(number).is_ok()).count() as u64
}

/// Every step but the last one found is whole, and that one is as far as it can have got.
fn check(place: &Place, base: &str, done: u64) -> Result<()> {
    let base = place.path(base);
    if !base.exists() {
        return Ok(());
    }
    let exists = |name: String| base.join(name).exists();
    let steps = (0..=done).take_while(|n| exists(format!("link{n}"))).count() as u64;
    let (made, filled, renamed) =
        (exists(format!("a{steps}")), exists(format!("a{steps}/file")), exists(format!("b{steps}")));
    ensure!(!(made && renamed), "step {steps} is there under both names");
    ensure!(!renamed || exists(format!("b{steps}/file")), "step {steps} was renamed before its file was made");
    let mut expected = 2 * steps + u64::from(made || renamed);
    for entry in std::fs::read_dir(&base)? {
        let name = entry?.file_name();
        ensure!(expected > 0, "{} is there, of a step after {steps} (filled: {filled})", name.display());
        expected -= 1;
    }
    ensure!(expected == 0, "{expected} names of the steps before {steps} are missing");
    for step in 0..steps {
        ensure!(exists(format!("b{step}/file")), "step {step} of {steps} is not whole");
    }
    Ok(())
}
