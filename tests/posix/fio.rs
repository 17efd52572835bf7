//! fio: what it wrote, in order and at random, is there when it reads it back, also after a remount.

use anyhow::Result;
use std::path::Path;
use stoa_tests::command::{self, program};
use stoa_tests::{Place, Setup, in_place, scale};

#[test]
fn fio_sequential() -> Result<()> {
    verified("fio-sequential", &["--rw=write", "--bs=256k"])
}

#[test]
fn fio_random() -> Result<()> {
    verified("fio-random", &["--rw=randwrite", "--bs=4k"])
}

#[test]
fn fio_random_sizes_unaligned() -> Result<()> {
    verified("fio-unaligned", &["--rw=randwrite", "--bsrange=512-96k", "--bs_unaligned=1"])
}

fn verified(name: &'static str, job: &[&str]) -> Result<()> {
    in_place(Setup::new(name).limit(scale::minutes(6, 60)), |place| {
        fio(place.dir(), name, job, &["--do_verify=1"])?;
        reread(place, name, job)
    })
}

/// Reads it back from the store: nothing is cached after a remount.
fn reread(place: &mut Place, name: &str, job: &[&str]) -> Result<()> {
    place.remount()?;
    fio(place.dir(), name, job, &["--verify_only"])
}

fn fio(dir: &Path, name: &str, job: &[&str], mode: &[&str]) -> Result<()> {
    let size = scale::pick("--size=48m", "--size=1g");
    command::run(
        program("fio")
            .args([
                "--ioengine=psync",
                "--verify=crc32c",
                "--verify_fatal=1",
                "--randseed=42",
                "--end_fsync=1",
                "--verify_state_save=0",
                size,
            ])
            .arg(format!("--name={name}"))
            .arg(format!("--directory={}", dir.display()))
            .args(job)
            .args(mode),
        scale::minutes(5, 50),
    )?;
    Ok(())
}
