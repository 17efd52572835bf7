//! 3. An unmount, however it is asked for, returns or ends only when everything is in the store.

use anyhow::{Context, Result, ensure};
use stoa_tests::command::shell;
use stoa_tests::{Mount, Place, Setup, StoreKind, content, in_place, scale, tree};

#[test]
fn p03_stoa_umount() -> Result<()> {
    unmounted_by("p03", Mount::unmount)
}

#[test]
fn p03_umount_by_the_kernel() -> Result<()> {
    unmounted_by("p03-kernel", Mount::unmount_by_kernel)
}

#[test]
fn p03_sigterm() -> Result<()> {
    unmounted_by("p03-sigterm", Mount::terminate)
}

fn unmounted_by(name: &'static str, how: fn(Mount) -> Result<()>) -> Result<()> {
    in_place(Setup::new(name).store(StoreKind::s3()), |place| {
        tree::plant(&place.path("tree"), scale::pick(400, 5000), 3)?;
        std::fs::write(place.path("large"), content::bytes(9, 30 << 20))?;
        let expected = tree::survey(place.dir())?;
        how(place.taken()?)?;
        ensure!(std::fs::read_dir(place.dir())?.next().is_none(), "still mounted");
        place.mount(&[])?;
        tree::compare(&tree::survey(place.dir())?, &expected)?;
        place.unmount()?;
        place.expect_clean()?;
        Ok(())
    })
}

/// What its files lie on can be unmounted next.
#[test]
fn p03_no_process_is_left() -> Result<()> {
    in_place(Setup::new("p03-process"), |place| {
        let cache = place.scratch().join("cache");
        place.unmount()?;
        place.mount(&["--cache-dir", &cache.to_string_lossy()])?;
        std::fs::write(place.path("file"), content::bytes(2, 30 << 20))?;
        let pid = place.pid().context("no process")?;
        let dir = place.dir().to_owned();
        let unmounted = place.stoa_on("umount", &[], &dir)?;
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        ensure!(unmounted.status.success(), "{}", unmounted.quoted());
        ensure!(stat.is_empty() || stat.contains(") Z "), "it is still there: {stat}");
        drop(place.taken()?);
        Ok(())
    })
}

/// A mount that took no changes brings nothing into the store, and does not say so.
#[test]
fn p03_read_only() -> Result<()> {
    in_place(Setup::new("p03-read-only"), |place| {
        place.unmount()?;
        place.mount(&["-o", "ro"])?;
        let dir = place.dir().to_owned();
        let unmounted = place.stoa_on("umount", &[], &dir)?;
        ensure!(unmounted.stdout == format!("unmounted {}\n", dir.display()), "{}", unmounted.quoted());
        drop(place.taken()?);
        Ok(())
    })
}

/// What a mount leaves that was killed is no obstacle to the next one on the same directory.
#[test]
fn p03_mount_after_a_kill() -> Result<()> {
    in_place(Setup::new("p03-killed"), |place| {
        let (dir, store) = (place.dir().to_owned(), place.store()?.url().to_string_lossy().into_owned());
        let mut dead = place.taken()?;
        // The kernel knows the directory, and goes on to answer for it.
        ensure!(std::fs::metadata(&dir)?.is_dir(), "no directory");
        dead.kill()?;
        let mounted = place.stoa_on("mount", &[&store], &dir)?;
        ensure!(mounted.status.success() && mounted.stderr.contains("is gone: cleared"), "{}", mounted.quoted());
        std::fs::write(place.path("file"), "content")?;
        let again = place.stoa_on("mount", &[&store], &dir)?;
        ensure!(!again.status.success() && again.stderr.contains("already"), "a live mount: {}", again.quoted());
        ensure!(place.stoa_on("umount", &[], &dir)?.status.success(), "it can't be unmounted");
        place.expect_clean()?;
        Ok(())
    })
}

#[test]
fn p03_background_mount() -> Result<()> {
    in_place(Setup::new("p03-background"), |place| {
        place.unmount()?;
        in_background(place)
    })
}

/// The two commands of the README: the first returns when the mount answers, the second when all is in the store.
fn in_background(place: &mut Place) -> Result<()> {
    let stoa = stoa_tests::tools::stoa()?;
    let (stoa, limit) = (stoa.display(), scale::minutes(1, 1));
    let script = format!(
        "trap '{stoa} umount files || umount -l files' ERR\n\
         {stoa} mount store files\n\
         mkdir files/d; echo content > files/d/f; {stoa} status --json files | grep -q dirty_bytes\n\
         {stoa} umount files\n\
         test -z \"$(ls -A files)\"; {stoa} mount store files; test \"$(cat files/d/f)\" = content; {stoa} umount files"
    );
    shell(&script, place.scratch(), limit)?;
    place.expect_clean()?;
    Ok(())
}
