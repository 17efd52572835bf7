//! 16. fcntl and flock locks hold between processes, by range, and end with their process.

use anyhow::{Result, ensure};
use std::path::Path;
use stoa_tests::locks::{Holder, LockKind};
use stoa_tests::{Setup, in_place};

const HOLDER: &str = env!("CARGO_BIN_EXE_stoa-hold-lock");

fn lock(path: &Path, kind: LockKind) -> Result<Holder> {
    Holder::start(HOLDER, path, kind)
}

#[test]
fn p16_fcntl() -> Result<()> {
    in_place(Setup::new("p16-fcntl"), |place| {
        let path = place.path("file");
        std::fs::write(&path, [0; 100])?;
        let range = |start, len| LockKind::Fcntl { start, len };
        let first = lock(&path, range(10, 20))?;
        ensure!(first.got(), "the first lock was refused");
        ensure!(!lock(&path, range(29, 1))?.got(), "an overlapping lock was granted");
        ensure!(!lock(&path, range(0, 0))?.got(), "a lock of the whole file was granted");
        let second = lock(&path, range(30, 10))?;
        ensure!(second.got(), "a lock beside it was refused");
        ensure!(!lock(&path, range(35, 1000))?.got(), "a lock over the second was granted");
        drop(first);
        ensure!(lock(&path, range(0, 30))?.got(), "the lock of a process that ended still holds");
        drop(second);
        ensure!(lock(&path, range(0, 0))?.got(), "locks are left although no process is");
        Ok(())
    })
}

#[test]
fn p16_flock() -> Result<()> {
    in_place(Setup::new("p16-flock"), |place| {
        let path = place.path("file");
        std::fs::write(&path, "")?;
        let first = lock(&path, LockKind::Flock)?;
        ensure!(first.got(), "the first lock was refused");
        ensure!(!lock(&path, LockKind::Flock)?.got(), "a second exclusive lock was granted");
        let hard_link = place.path("link");
        std::fs::hard_link(&path, &hard_link)?;
        ensure!(!lock(&hard_link, LockKind::Flock)?.got(), "the same file under another name was locked");
        // The two kinds do not see each other, as on local file systems.
        ensure!(lock(&path, LockKind::Fcntl { start: 0, len: 0 })?.got(), "flock kept fcntl out");
        drop(first);
        ensure!(lock(&path, LockKind::Flock)?.got(), "the lock of a process that ended still holds");
        Ok(())
    })
}
