//! Files that are written through a mount are objects for everybody else.

use crate::setting::{on_all_servers, over_objects, over_objects_in, pattern, requests};
use anyhow::{Context, Result, ensure};
use std::fs::{self, File};
use std::io::Write;
use std::time::Duration;
use stoa_tests::command::shell;
use stoa_tests::{Objects, Place, Setup, StoreKind, in_place};

const MIB: usize = 1 << 20;
const LIMIT: Duration = Duration::from_secs(120);

fn nothing(_: &Objects) -> Result<()> {
    Ok(())
}

fn expect(objects: &Objects, key: &str, content: &[u8]) -> Result<()> {
    let found = objects.get(key)?.with_context(|| format!("there is no object {key}"))?;
    ensure!(found == content, "{key}: {} bytes, and not the {} that were written", found.len(), content.len());
    Ok(())
}

#[test]
fn what_shells_do() -> Result<()> {
    let script =
        "echo one > file; echo two >> file; mkdir -p a/b; cp file a/b/copy; cat file a/b/copy > both; touch empty
        : > file; echo three > a/b/copy; ls -l a/b | grep -q copy; test \"$(cat a/b/copy)\" = three";
    over_objects("shell", &[], nothing, |place, objects| {
        shell(script, place.dir(), LIMIT)?;
        expect(objects, "both", b"one\ntwo\none\ntwo\n")?;
        expect(objects, "a/b/copy", b"three\n")?;
        expect(objects, "file", b"")?;
        expect(objects, "empty", b"")?;
        shell("rm file both empty; rm -r a; test -z \"$(ls)\"", place.dir(), LIMIT)?;
        ensure!(objects.keys()?.is_empty(), "{:?}", objects.keys()?);
        Ok(())
    })
}

#[test]
fn a_large_file_appears_when_it_is_closed() -> Result<()> {
    let content = pattern(1, 50 * MIB + 4321);
    over_objects("large", &[], nothing, |place, objects| {
        let mut file = File::create(place.path("large"))?;
        for part in content.chunks(3 * MIB + 7) {
            file.write_all(part)?;
        }
        shell("true", place.scratch(), LIMIT)?;
        ensure!(objects.get("large")?.is_none(), "it is there before it is closed, as a program was started");
        file.sync_all()?;
        expect(objects, "large", &content)?;
        file.write_all(b"and more")?;
        drop(file);
        expect(objects, "large", &[content.as_slice(), b"and more"].concat())?;
        ensure!(std::fs::read(place.path("large"))?.len() == content.len() + 8, "read back");
        ensure!(objects.uploads()? == 0, "unfinished uploads");
        Ok(())
    })
}

#[test]
fn a_tree_is_copied() -> Result<()> {
    over_objects("tree", &[], nothing, |place, _| {
        let tree = place.scratch().join("tree");
        stoa_tests::tree::plant(&tree, 150, 5)?;
        shell(
            "find tree -type l -delete; cp -r --no-preserve=all tree files/copy; diff -r --no-dereference tree files/copy",
            place.scratch(),
            LIMIT,
        )?;
        shell("rm -r copy; test -z \"$(ls)\"", place.dir(), LIMIT)?;
        Ok(())
    })
}

#[test]
fn a_small_file_costs_one_put() -> Result<()> {
    over_objects(
        "cost",
        &[],
        |objects| objects.put("dir/other", b"x"),
        |place, objects| {
            // Whether files may be written here is found out once.
            let (_, cost) = requests(place, || Ok(std::fs::write(place.path("first"), "content")?))?;
            ensure!(cost <= 4, "{cost} requests");
            ensure!(std::fs::read_dir(place.path("dir"))?.count() == 1, "one file");
            // The listing says that there is none.
            let (_, cost) = requests(place, || Ok(std::fs::write(place.path("dir/new"), "content")?))?;
            ensure!(cost == 1, "{cost} requests");
            let (_, cost) = requests(place, || Ok(std::fs::write(place.path("dir/next"), "content")?))?;
            ensure!(cost <= 2, "{cost} requests");
            // In a directory that nobody listed.
            objects.put("far/other", b"x")?;
            std::fs::metadata(place.path("far"))?;
            let (_, cost) = requests(place, || Ok(std::fs::write(place.path("far/new"), "content")?))?;
            ensure!(cost == 2, "{cost} requests");
            Ok(())
        },
    )
}

#[test]
fn what_cannot_be_done_is_said() -> Result<()> {
    over_objects(
        "refused",
        &[],
        |objects| objects.put("file", b"content"),
        |place, objects| {
            let refused =
                |result: std::io::Result<()>| result.is_err_and(|error| error.raw_os_error() == Some(libc::ENOTSUP));
            ensure!(refused(std::fs::hard_link(place.path("file"), place.path("other"))), "link");
            ensure!(refused(std::os::unix::fs::symlink("file", place.path("other"))), "symlink");
            expect(objects, "file", b"content")
        },
    )
}

#[test]
fn what_somebody_else_wrote_is_not_lost() -> Result<()> {
    over_objects(
        "conflict",
        &[],
        |objects| objects.put("file", b"old"),
        |place, objects| {
            let mut file = File::create(place.path("file"))?;
            file.write_all(b"mine")?;
            objects.put("file", b"of somebody else")?;
            expect_conflict(&file)?;
            drop(file);
            expect(objects, "file", b"of somebody else")?;
            ensure!(std::fs::read(place.path("file"))? == b"of somebody else", "read");
            let beside = beside(objects)?;
            expect(objects, &beside, b"mine")?;
            ensure!(std::fs::read(place.path(&beside))? == b"mine", "read beside");
            let log = std::fs::read_to_string(place.log())?;
            ensure!(log.contains(&beside), "the log does not name it: {log}");
            // Large ones, of two mounts.
            objects.delete(&beside)?;
            let other = place.scratch().join("other");
            std::fs::create_dir(&other)?;
            let second = place.mount_on(&other, &["--objects"])?;
            let content = [pattern(1, 30 * MIB), pattern(2, 30 * MIB + 5)];
            let mut files = [File::create(place.path("large"))?, File::create(other.join("large"))?];
            for (file, content) in files.iter_mut().zip(&content) {
                file.write_all(content)?;
            }
            let [one, two] = files;
            two.sync_all()?;
            expect_conflict(&one)?;
            drop((one, two));
            second.unmount()?;
            expect(objects, "large", &content[1])?;
            let beside = objects.keys()?.into_iter().find(|key| key.starts_with("large.")).context("one is lost")?;
            expect(objects, &beside, &content[0])?;
            ensure!(objects.uploads()? == 0, "an unfinished upload");
            Ok(())
        },
    )
}

fn expect_conflict(file: &File) -> Result<()> {
    let synced = file.sync_all();
    ensure!(synced.is_err_and(|error| error.raw_os_error() == Some(libc::ESTALE)), "the other was overwritten");
    Ok(())
}

fn beside(objects: &Objects) -> Result<String> {
    let keys = objects.keys()?;
    keys.iter().find(|key| key.starts_with("file.conflict-")).cloned().with_context(|| format!("it is lost: {keys:?}"))
}

#[test]
fn a_mount_that_is_ended_leaves_whole_what_was_whole() -> Result<()> {
    let forced = |place: &mut Place| Ok(place.stoa_on("umount", &["--force"], place.dir())?.stderr);
    let terminated = |place: &mut Place| {
        let ended = place.taken()?.terminate();
        Ok(format!("{:#}", ended.err().context("it ended as if nothing had been open")?))
    };
    on_all_servers(|store| in_place(Setup::new("forced").store(store).empty(), |place| while_written(place, forced)))?;
    on_all_servers(|store| in_place(Setup::new("ended").store(store).empty(), |place| while_written(place, terminated)))
}

/// Ends a mount while an object is replaced, another is made, and one is appended to.
fn while_written(place: &mut Place, end: impl Fn(&mut Place) -> Result<String>) -> Result<()> {
    let (old, new) = (pattern(1, 30 * MIB), pattern(2, 20 * MIB));
    let objects = Objects::of(place.store()?)?;
    objects.put("old", &old)?;
    objects.put("log", b"a line\n")?;
    place.mount(&["--objects"])?;
    let (mut replacing, mut making) = (File::create(place.path("old"))?, File::create(place.path("new"))?);
    replacing.write_all(&new)?;
    making.write_all(&new)?;
    let mut log = File::options().append(true).open(place.path("log"))?;
    log.write_all(b"another\n")?;
    let said = end(place)?;
    ensure!(["/old.unfinished-", "/new\"", "/log\""].iter().all(|name| said.contains(name)), "{said}");
    expect(&objects, "old", &old)?;
    expect(&objects, "log", b"a line\nanother\n")?;
    let keys = objects.keys()?;
    let beside = keys.iter().find(|key| key.starts_with("old.unfinished-")).context("nothing beside")?;
    for (key, is) in [(beside.as_str(), "replacing"), ("new", "making")] {
        let there = objects.get(key)?.with_context(|| format!("there is no object {key}"))?;
        // The kernel may have held the rest back, and lost it with the connection.
        ensure!(new.starts_with(&there) && !there.is_empty(), "{is}: {} bytes", there.len());
    }
    ensure!(keys.len() == 4 && objects.uploads()? == 0, "{keys:?}");
    Ok(())
}

#[test]
fn who_may_not_write_is_told_and_leaves_nothing() -> Result<()> {
    over_objects_in(
        "denied",
        StoreKind::S3s,
        &[],
        |objects| objects.put("old", b"content"),
        |place, objects| {
            place.store()?.refuse("volume")?;
            let denied =
                |result: std::io::Result<()>| result.is_err_and(|error| error.raw_os_error() == Some(libc::EACCES));
            for len in [0, 100, 30 * MIB] {
                // The kernel gives the file before it back some time after it was closed: until then, opening it says why it failed.
                let written = File::create(place.path("new")).and_then(|mut file| {
                    file.write_all(&pattern(1, len))?;
                    file.sync_all()
                });
                ensure!(denied(written), "{len} bytes");
            }
            ensure!(shell("touch touched", place.dir(), LIMIT).is_err(), "touch");
            let append = File::options().append(true).open(place.path("old")).and_then(|mut file| {
                file.write_all(b"more")?;
                file.sync_all()
            });
            ensure!(denied(append), "append");
            place.store()?.accept()?;
            ensure!(objects.keys()? == ["old"] && objects.uploads()? == 0, "{:?}", objects.keys()?);
            expect(objects, "old", b"content")?;
            // And from now on it can.
            std::fs::write(place.path("later"), "content")?;
            expect(objects, "later", b"content")
        },
    )
}

#[test]
fn what_could_not_be_stored_is_not_read() -> Result<()> {
    over_objects(
        "lost",
        &["--ttl", "0"],
        |objects| objects.put("file", b"first"),
        |place, objects| {
            let mut file = File::options().write(true).open(place.path("file"))?;
            file.write_all(b"MINE!")?;
            objects.put("file", b"other")?;
            ensure!(file.sync_all().is_err(), "the object of somebody else was replaced");
            // The very content that was there when the file was opened, whose pages the kernel had.
            objects.put("file", b"first")?;
            let there = fs::read(place.path("file"))?;
            ensure!(there == b"first", "{}", String::from_utf8_lossy(&there));
            drop(file);
            let there = fs::read(place.path("file"))?;
            ensure!(there == b"first", "after it was closed: {}", String::from_utf8_lossy(&there));
            Ok(())
        },
    )
}

/// How often the kernel has asked for bytes.
fn reads(place: &Place) -> Result<u64> {
    let profile = place.stoa_on("profile", &["--json"], place.dir())?;
    let profile: serde_json::Value = serde_json::from_str(&profile.stdout).with_context(|| profile.quoted())?;
    let operations = profile.get("operations").and_then(serde_json::Value::as_array).context("no operations")?;
    let counts = operations.iter().filter(|operation| operation.get("name").is_some_and(|name| name == "read"));
    Ok(counts.filter_map(|operation| operation.get("count")?.as_u64()).sum())
}

#[test]
fn what_was_read_stays_in_the_kernel() -> Result<()> {
    let content = pattern(7, 3 << 20);
    over_objects(
        "kept",
        &[],
        |objects| objects.put("file", &content),
        |place, _| {
            ensure!(fs::read(place.path("file"))? == content, "first");
            let before = reads(place)?;
            ensure!(fs::read(place.path("file"))? == content, "again");
            ensure!(reads(place)? == before, "the kernel asked for it again");
            // Another content is another inode, whatever the kernel has of the one before.
            let edited = [&content[..100], b"edited", &content[106..]].concat();
            fs::write(place.path("file"), &edited)?;
            ensure!(fs::read(place.path("file"))? == edited, "after it was written here");
            Ok(())
        },
    )
}
