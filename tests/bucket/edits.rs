//! Files of objects are changed in place, as any others.

use crate::setting::{bytes_moved, over_objects, over_objects_in, pattern, requests};
use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;
use stoa_tests::command::shell;
use stoa_tests::{Fsx, Objects, StoreKind, scale};

const MIB: usize = 1 << 20;

fn expect(objects: &Objects, key: &str, content: &[u8]) -> Result<()> {
    let found = objects.get(key)?.with_context(|| format!("there is no object {key}"))?;
    ensure!(found == content, "{key}: {} bytes, and not the {} that were written", found.len(), content.len());
    ensure!(objects.uploads()? == 0, "an unfinished upload");
    Ok(())
}

#[test]
fn fsx() -> Result<()> {
    let operations = scale::pick(2_000, 100_000);
    let limit = scale::minutes(2, 120);
    over_objects_in(
        "fsx",
        StoreKind::s3(),
        &[],
        |_| Ok(()),
        |place, objects| {
            let file = Fsx { seed: 4, operations, bytes_max: 4 << 20, limit }.run(place)?;
            let there = std::fs::read(file)?;
            ensure!(!there.is_empty(), "fsx left nothing");
            expect(objects, "fsx", &there)
        },
    )
}

#[test]
fn a_change_in_the_middle_of_a_large_object() -> Result<()> {
    let content = pattern(1, 40 * MIB + 1234);
    over_objects(
        "middle",
        &[],
        |objects| objects.put("large", &content),
        |place, objects| {
            let mut expected = content.clone();
            let file = File::options().read(true).write(true).open(place.path("large"))?;
            for at in [0, 17 * MIB + 5, 18 * MIB, expected.len() - 3] {
                file.write_all_at(b"changed", at as u64)?;
                expected.resize(expected.len().max(at + 7), 0);
                expected[at..at + 7].copy_from_slice(b"changed");
            }
            let mut there = vec![0; 20];
            file.read_exact_at(&mut there, 17 * MIB as u64)?;
            ensure!(there == expected[17 * MIB..17 * MIB + 20], "read before it is stored");
            expect(objects, "large", &content).context("before it is synced")?;
            file.sync_all()?;
            expect(objects, "large", &expected)?;
            file.write_all_at(b"and again", 30 * MIB as u64)?;
            expected[30 * MIB..30 * MIB + 9].copy_from_slice(b"and again");
            file.set_len(35 * MIB as u64)?;
            file.set_len(36 * MIB as u64)?;
            expected.truncate(35 * MIB);
            expected.resize(36 * MIB, 0);
            drop(file);
            expect(objects, "large", &expected)?;
            ensure!(std::fs::read(place.path("large"))? == expected, "read back");
            Ok(())
        },
    )
}

#[test]
fn more_is_changed_at_random_than_there_is_memory() -> Result<()> {
    const BLOCK: usize = 64 << 10;
    let content = pattern(2, 48 * MIB);
    over_objects(
        "random",
        &["--memory", "64M"],
        |objects| objects.put("large", &pattern(3, 50 * MIB)),
        |place, objects| {
            let file = File::options().read(true).write(true).open(place.path("large"))?;
            let blocks = content.len() / BLOCK;
            // 487 and the number of blocks have no divisor in common: each is written once.
            for at in (0..blocks).map(|n| n * 487 % blocks * BLOCK) {
                file.write_all_at(&content[at..at + BLOCK], at as u64)?;
            }
            let mut there = vec![0; BLOCK];
            for at in (0..blocks).step_by(7).map(|n| n * BLOCK) {
                file.read_exact_at(&mut there, at as u64)?;
                ensure!(there == content[at..at + BLOCK], "at {at}");
            }
            drop(file);
            let mut expected = pattern(3, 50 * MIB);
            expected[..content.len()].copy_from_slice(&content);
            expect(objects, "large", &expected)
        },
    )
}

#[test]
fn cp_of_a_large_file_moves_no_bytes() -> Result<()> {
    let content = pattern(6, 40 * MIB + 77);
    over_objects(
        "copies",
        &["--attributes", "objects"],
        |objects| objects.put("large", &content),
        |place, objects| {
            let script = "touch -d 2020-02-02T02:02:02 large; chmod 640 large
                cp large new; echo there > old; cp large old; cp -p large same
                cmp large new; cmp large old; cmp large same
                test \"$(stat -c '%a %Y' large)\" = \"$(stat -c '%a %Y' same)\"
                test $(stat -c %Y new) -gt $(date -d 2024-01-01 +%s)";
            let before = bytes_moved(place)?;
            shell(script, place.dir(), Duration::from_secs(60))?;
            // Read once, to compare: four times the same bytes, under four names. Of these, some may come twice, when requests of the kernel
            // overtake one another; half a copy would be more than that.
            let (received, sent) = (bytes_moved(place)?.0 - before.0, bytes_moved(place)?.1 - before.1);
            ensure!(received <= 9 * content.len() as u64 / 2, "{received} bytes came here");
            ensure!(sent < 1_000_000, "{sent} bytes were sent");
            ["new", "old", "same"].into_iter().try_for_each(|key| expect(objects, key, &content))
        },
    )
}

#[test]
fn what_programs_do_in_place() -> Result<()> {
    let script = "head -c 3000000 /dev/urandom > plain; cp plain files/file
        for f in plain files/file; do
            dd if=/dev/zero of=$f bs=1000 count=50 seek=100 conv=notrunc status=none
            printf X | dd of=$f bs=1 seek=5000000 conv=notrunc status=none
            truncate -s 4500000 $f; truncate -s +10000 $f; echo end >> $f
            fallocate -o 10000 -l 5000 -p $f; fallocate -l 6000000 $f
            python3 -c \"
import mmap, sys
with open('$f', 'r+b') as f:
    m = mmap.mmap(f.fileno(), 0)
    m[123456:123466] = b'0123456789'
    m[-4:] = b'last'
    m.flush(); m[0:5] = b'first'; m.close()\"
            cmp $f $f
        done
        cmp plain files/file";
    over_objects(
        "in-place",
        &[],
        |_| Ok(()),
        |place, objects| {
            shell(script, place.scratch(), Duration::from_secs(60))?;
            expect(objects, "file", &std::fs::read(place.scratch().join("plain"))?)
        },
    )
}

#[test]
fn an_archive_is_written_with_steps_back() -> Result<()> {
    let script = "python3 -c \"
import zipfile, os, wave
with zipfile.ZipFile('files/a.zip', 'w') as z:
    for n in range(3):
        with z.open(str(n), 'w') as f:
            for _ in range(15): f.write(os.urandom(1 << 20))
with zipfile.ZipFile('files/a.zip', 'a') as z: z.writestr('more', 'x' * 1000)
assert zipfile.ZipFile('files/a.zip').testzip() is None
w = wave.open('files/a.wav', 'wb'); w.setnchannels(1); w.setsampwidth(2); w.setframerate(8000)
for _ in range(20): w.writeframes(os.urandom(1 << 20))
w.close()
assert wave.open('files/a.wav').getnframes() == 10 << 20
\"; cat files/a.zip files/a.wav | md5sum";
    over_objects(
        "archive",
        &[],
        |_| Ok(()),
        |place, objects| {
            let sum = shell(script, place.scratch(), Duration::from_secs(100))?;
            let both = [objects.get("a.zip")?.context("no zip")?, objects.get("a.wav")?.context("no wav")?].concat();
            std::fs::write(place.scratch().join("both"), both)?;
            let there = shell("cat both | md5sum", place.scratch(), Duration::from_secs(20))?;
            ensure!(there == sum, "{there} and {sum}");
            ensure!(objects.uploads()? == 0, "an unfinished upload");
            Ok(())
        },
    )
}

#[test]
fn a_database_works_in_an_object() -> Result<()> {
    let script = "python3 -c \"
import sqlite3
d = sqlite3.connect('db')
d.execute('create table t (a integer primary key, b text)')
for n in range(30):
    with d: d.executemany('insert into t (b) values (?)', [('x' * 1000,)] * 50)
with d: d.execute('delete from t where a % 3 = 0')
d.execute('vacuum')
assert d.execute('pragma integrity_check').fetchone()[0] == 'ok'
assert d.execute('select count(*) from t').fetchone()[0] == 1000
d.close()\"";
    over_objects(
        "sqlite",
        &[],
        |_| Ok(()),
        |place, objects| {
            shell(script, place.dir(), Duration::from_secs(100))?;
            let db = objects.get("db")?.context("no database")?;
            std::fs::write(place.scratch().join("copy"), db)?;
            shell(
                "python3 -c \"import sqlite3; d = sqlite3.connect('copy'); assert d.execute('select count(*) from t').fetchone()[0] == 1000\"",
                place.scratch(),
                Duration::from_secs(20),
            )?;
            Ok(())
        },
    )
}

#[test]
fn a_redirection_is_one_put() -> Result<()> {
    over_objects(
        "redirect",
        &[],
        |objects| objects.put("dir/old", b"x"),
        |place, objects| {
            std::fs::write(place.path("first"), "")?;
            ensure!(std::fs::read_dir(place.path("dir"))?.count() == 1, "one file");
            let (_, cost) = requests(place, || shell("echo x > dir/next", place.dir(), Duration::from_secs(20)))?;
            ensure!(cost == 1, "{cost} requests in a directory that was listed");
            let (_, cost) = requests(place, || shell("echo y > dir/next", place.dir(), Duration::from_secs(20)))?;
            ensure!(cost == 2, "{cost} requests: what it carries, and the new one");
            expect(objects, "dir/next", b"y\n")
        },
    )
}
