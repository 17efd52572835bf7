//! 10. A bit flipped in a stored segment is never returned as data: the read fails with EIO, the rest stays readable, and
//!     `stoa fsck --data` names the object. One flipped in an object of the namespace is either an error that names it, or no
//!     harm: nothing is wrong or missing.

use anyhow::{Context, Result, ensure};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use stoa_tests::command::until;
use stoa_tests::{Fsck, Place, Setup, content, in_place, scale, tree};

/// What lies beside the data: folders, and an object. All is under a checksum, or only says who has the volume open.
const NAMESPACE: [&str; 6] =
    ["meta/compacted", "meta/compactions", "meta/manifest", "meta/wal", "owners", "volume.json"];

const FILES: u64 = 3;
const LEN: usize = 3 << 20;

#[test]
fn p10_in_every_segment() -> Result<()> {
    in_place(Setup::new("p10").limit(scale::minutes(5, 10)), |place| {
        for seed in 0..FILES {
            let file = File::create(place.path(format!("f{seed}")))?;
            file.write_all_at(&content::bytes(seed, LEN), 0)?;
            file.sync_all()?;
        }
        place.unmount()?;
        let segments = place.store()?.objects("data")?;
        ensure!(!segments.is_empty(), "no segments in the store");
        let mut refused = 0;
        for segment in segments {
            let len = segment.metadata()?.len();
            for at in [len / 3, len / 2, len - 1] {
                flip(&segment, 8 * at + 3)?;
                refused +=
                    damaged(place, &segment).with_context(|| format!("{} bit 3 of byte {at}", segment.display()))?;
                flip(&segment, 8 * at + 3)?;
            }
        }
        ensure!(refused > 0, "no read failed although data was damaged");
        place.expect_clean()?;
        Ok(())
    })
}

/// Reads everything from a volume with one damaged segment; returns how many files had a range that failed.
fn damaged(place: &mut Place, segment: &Path) -> Result<u64> {
    place.mount(&[])?;
    let mut refused = 0;
    for seed in 0..FILES {
        let intact = intact_bytes(&place.path(format!("f{seed}")), &content::bytes(seed, LEN))?;
        // A frame is at most 256 KiB; read-ahead may fail with it. Far more than that must stay readable.
        ensure!(intact > LEN / 2, "only {intact} bytes of file {seed} are readable");
        refused += u64::from(intact < LEN);
    }
    place.unmount()?;
    let report = place.fsck()?;
    let name = segment.file_name().context("a segment without a name")?.to_string_lossy();
    ensure!(
        report.problems.iter().any(|problem| problem.what.contains(&*name)),
        "fsck does not name the object: {:?}",
        report.problems
    );
    Ok(refused)
}

/// How many bytes can be read; those that can must be right, and the others must fail with EIO.
fn intact_bytes(path: &Path, expected: &[u8]) -> Result<usize> {
    const PIECE: usize = 4096;
    let file = File::open(path)?;
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random)?;
    let mut intact = 0;
    for (number, expected) in expected.chunks(PIECE).enumerate() {
        let mut found = vec![0; expected.len()];
        match file.read_exact_at(&mut found, (number * PIECE) as u64) {
            Ok(()) => {
                content::same(&found, expected).with_context(|| format!("page {number}: wrong data, and no error"))?;
                intact += found.len();
            }
            Err(error) => ensure!(error.raw_os_error() == Some(libc::EIO), "page {number}: {error}"),
        }
    }
    Ok(intact)
}

fn flip(object: &Path, bit: u64) -> Result<()> {
    let file = File::options().read(true).write(true).open(object)?;
    let mut byte = [0];
    file.read_exact_at(&mut byte, bit / 8)?;
    file.write_all_at(&byte.map(|byte| byte ^ (1 << (bit % 8))), bit / 8)?;
    Ok(())
}

#[test]
fn p10_in_every_object_of_the_namespace() -> Result<()> {
    in_place(Setup::new("p10-namespace").limit(scale::minutes(10, 60)), |place| {
        let expected = tree_in_every_kind(place)?;
        let (store, intact) = (place.scratch().join("store"), place.scratch().join("intact"));
        let objects = namespace(place)?;
        copy(&store, &intact)?;
        let inodes = place.expect_clean()?.inodes;
        let mend = || {
            std::fs::remove_dir_all(&store)?;
            copy(&intact, &store)
        };
        let damage = |object: &Path, bit: u64| mend().and_then(|()| flip(&store.join(object), bit));
        let mut rng = SmallRng::seed_from_u64(10);
        for object in &objects {
            for _ in 0..scale::pick(1, 16) {
                let bit = rng.random_range(0..8 * intact.join(object).metadata()?.len());
                let flipped = || format!("{} bit {bit}", object.display());
                damage(object, bit)?;
                mounts_right(place, object, &expected).with_context(flipped)?;
                damage(object, bit)?;
                checks_right(place, object, inodes).with_context(flipped)?;
            }
        }
        // One of the tables is surely read. In the middle of it are records.
        mend()?;
        for object in objects.iter().filter(|object| object.starts_with("meta/compacted")) {
            flip(&store.join(object), 4 * intact.join(object).metadata()?.len())?;
        }
        let right = mounts_right(place, Path::new("meta/compacted"), &expected)?;
        ensure!(!right, "nobody noticed that every table is damaged");
        Ok(())
    })
}

/// A volume that was mounted often enough to merge tables, and then killed: with a log to replay. Returns what is in it.
fn tree_in_every_kind(place: &mut Place) -> Result<Survey> {
    // An unmount leaves a table, and merging starts at four.
    for round in 0..5 {
        place.remount()?;
        tree::plant(&place.path(format!("tree{round}")), 40, round)?;
        File::open(place.dir())?.sync_all()?;
    }
    until("tables are merged", scale::minutes(1, 1), || Ok(place.store()?.objects("meta/compactions").is_ok()))?;
    let expected = tree::survey(place.dir())?;
    // Reading set times of access: changes too, which the kill must not cut short.
    place.wait_until_stored(scale::minutes(1, 1))?;
    place.kill()?;
    Ok(expected)
}

type Survey = BTreeMap<PathBuf, tree::Node>;

/// The names of the objects to damage, each in its folder. One that holds nothing can't be.
fn namespace(place: &mut Place) -> Result<Vec<PathBuf>> {
    let root = place.scratch().join("store");
    let mut found = Vec::new();
    for name in NAMESPACE {
        let path = root.join(name);
        let paths = if path.is_dir() { place.store()?.objects(name)? } else { vec![path] };
        for path in paths {
            if path.metadata()?.len() > 0 {
                found.push(path.strip_prefix(&root)?.to_owned());
            }
        }
    }
    Ok(found)
}

/// Whether a mount shows all of the tree as it was; if not it must have said why.
fn mounts_right(place: &mut Place, object: &Path, expected: &Survey) -> Result<bool> {
    std::fs::write(place.log(), "")?;
    let right = match place.mount(&[]) {
        Ok(()) => shows(place.dir(), expected),
        Err(error) => Err(error),
    };
    // Whether it can be closed in order is another question.
    drop(place.taken());
    let log = std::fs::read_to_string(place.log())?;
    match right {
        Ok(()) => ensure!(!log.contains("panicked"), "{log}"),
        Err(error) => {
            let errno = error.chain().find_map(errno);
            ensure!(errno.is_none_or(|errno| errno == libc::EIO), "neither right nor refused: {error:#}");
            expect_named(&log, object)?;
            return Ok(false);
        }
    }
    Ok(true)
}

/// Every file can be found by its name, and is in the listings with all that belongs to it.
fn shows(dir: &Path, expected: &Survey) -> Result<()> {
    // Before anything is listed: a listing tells the kernel the inodes of all names.
    for path in expected.keys() {
        std::fs::symlink_metadata(dir.join(path)).with_context(|| path.display().to_string())?;
    }
    let found = tree::survey(dir)?;
    // As an error of the system, so that it does not pass for damage that was noticed.
    tree::compare(&found, expected)
        .map_err(|error| anyhow::Error::from(std::io::Error::from_raw_os_error(libc::EUCLEAN)).context(error))
}

fn errno(error: &(dyn std::error::Error + 'static)) -> Option<i32> {
    let io = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error);
    io.or_else(|| error.downcast_ref::<rustix::io::Errno>().map(|errno| errno.raw_os_error()))
}

/// A check finds every inode, or says what is wrong.
fn checks_right(place: &Place, object: &Path, inodes: u64) -> Result<()> {
    let output = place.stoa("fsck", &["--data", "--json"])?;
    if output.status.code() != Some(0) {
        return expect_named(&output.quoted(), object);
    }
    let found: Fsck = serde_json::from_str(&output.stdout)?;
    ensure!(found.inodes == inodes, "clean, but with {} inodes of {inodes}", found.inodes);
    Ok(())
}

/// The name of the object, or that somebody else may have the volume: an owner that can't be told for gone is not shut out.
fn expect_named(said: &str, object: &Path) -> Result<()> {
    let name = object.file_name().context("an object without a name")?.to_string_lossy();
    ensure!(!said.contains("panicked"), "{said}");
    ensure!(said.contains(&*name) || said.contains("--take-over"), "not a word of the object: {said}");
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            std::fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}
