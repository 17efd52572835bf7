//! What was there before: `stoa versions`, `stoa undelete`, and mounts of a time.

use crate::setting::{on_all_servers, pattern};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use stoa_tests::{Objects, Place, Setup, StoreKind, in_place, scale};

/// Servers keep the times of versions to the second, some of them.
const APART: Duration = Duration::from_millis(1100);

/// Runs a test over a bucket that keeps versions, on every server. Nothing is mounted.
fn over_versions(name: &'static str, test: impl Fn(&mut Place, &Objects) -> Result<()>) -> Result<()> {
    on_all_servers(|store| over_versions_in(name, store, &test))
}

/// As [`over_versions`], on the servers whose times of old versions are right: versitygw says of a version that was replaced when that was,
/// and not when it was written.
fn over_times(name: &'static str, test: impl Fn(&mut Place, &Objects) -> Result<()>) -> Result<()> {
    let mut right = StoreKind::s3_servers().filter(|store| *store != StoreKind::Versitygw);
    right.try_for_each(|store| over_versions_in(name, store, &test))
}

fn over_versions_in(
    name: &'static str,
    store: StoreKind,
    test: impl Fn(&mut Place, &Objects) -> Result<()>,
) -> Result<()> {
    in_place(Setup::new(name).store(store).empty().limit(scale::minutes(3, 10)), |place| {
        place.store()?.keep_versions()?;
        let objects = Objects::of(place.store()?)?;
        test(place, &objects)
    })
    .with_context(|| format!("on {store:?}"))
}

fn json(place: &Place, command: &str, args: &[&str], target: &str) -> Result<Value> {
    let said = place.stoa_on(command, &[&["--json"], args].concat(), target)?;
    ensure!(said.status.success(), "stoa {command}: {}", said.quoted());
    serde_json::from_str(&said.stdout).with_context(|| said.quoted())
}

/// A time after all that was done, and before all that is done next.
fn between(place: &Place, objects: &Objects) -> Result<String> {
    std::thread::sleep(APART);
    // The server's clock, which is the one that counts.
    objects.put("clock", b"tick")?;
    let versions = json(place, "versions", &[], &format!("{}/clock", objects.url()))?;
    let time = versions.pointer("/0/modified").and_then(Value::as_str).context("no time")?.to_owned();
    std::thread::sleep(APART);
    Ok(time)
}

/// Every file in a mounted tree.
fn files(dir: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    fn walk(dir: &Path, at: &str, found: &mut BTreeMap<String, Vec<u8>>) -> Result<()> {
        for entry in std::fs::read_dir(dir)? {
            let entry = entry?;
            let path = format!("{at}{}", entry.file_name().to_string_lossy());
            match entry.file_type()?.is_dir() {
                true => walk(&entry.path(), &format!("{path}/"), found)?,
                false => drop(found.insert(path, std::fs::read(entry.path())?)),
            }
        }
        Ok(())
    }
    let mut found = BTreeMap::new();
    walk(dir, "", &mut found)?;
    found.remove("clock");
    Ok(found)
}

fn expected(files: &[(&str, &[u8])]) -> BTreeMap<String, Vec<u8>> {
    files.iter().map(|(name, content)| ((*name).to_owned(), content.to_vec())).collect()
}

#[test]
fn versions_are_listed() -> Result<()> {
    over_versions("versions", |place, objects| {
        objects.put("f", b"one")?;
        std::thread::sleep(APART);
        objects.put("f", b"second")?;
        std::thread::sleep(APART);
        objects.delete("f")?;
        objects.put("f-other", b"x")?;
        let of = |versions: &Value, field: &str| -> Vec<Value> {
            versions.as_array().into_iter().flatten().map(|version| version[field].clone()).collect()
        };
        let versions = json(place, "versions", &[], &format!("{}/f", objects.url()))?;
        ensure!(of(&versions, "deleted") == [true, false, false].map(Value::from), "{versions}");
        ensure!(of(&versions, "current") == [true, false, false].map(Value::from), "{versions}");
        ensure!(of(&versions, "size")[1..] == [6, 3].map(Value::from), "{versions}");
        let all = json(place, "versions", &[], &format!("{}/", objects.url()))?;
        ensure!(all.as_array().map(Vec::len) == Some(4), "{all}");

        // By a path in a mount, where the file is not any more.
        place.mount(&["--objects"])?;
        let path = place.path("f").to_string_lossy().into_owned();
        ensure!(json(place, "versions", &[], &path)? == versions, "by path");
        let said = place.stoa_on("versions", &[], &path)?;
        ensure!(said.stdout.lines().count() == 3 && said.stdout.contains("deleted"), "{}", said.quoted());
        let said = place.stoa_on("versions", &[], place.path("nothing"))?;
        ensure!(!said.status.success() && said.stderr.contains("no version"), "{}", said.quoted());
        place.unmount()
    })
}

#[test]
fn what_was_deleted_comes_back() -> Result<()> {
    over_versions("undelete", |place, objects| {
        let large = pattern(5, 3 << 20);
        for (key, content) in [("d/a", &b"one"[..]), ("d/sub/b", &large), ("d/kept", b"kept"), ("e/other", b"x")] {
            objects.put(key, content)?;
        }
        place.mount(&["--objects", "--ttl", "0"])?;
        let before = files(place.dir())?;
        std::fs::remove_file(place.path("d/a"))?;
        std::fs::remove_file(place.path("d/sub/b"))?;
        // Twice deleted.
        objects.delete("d/a")?;
        objects.delete("e/other")?;
        let tree = place.path("d").to_string_lossy().into_owned();
        let dry = json(place, "undelete", &["--dry-run"], &tree)?;
        ensure!(dry["restored"] == 2 && !place.path("d/a").exists(), "{dry}");
        let done = json(place, "undelete", &[], &tree)?;
        ensure!(done["restored"] == 2 && done["failed"] == 0, "{done}");
        ensure!(!place.path("e/other").exists(), "only what was asked for");
        let file = place.path("e/other").to_string_lossy().into_owned();
        ensure!(json(place, "undelete", &[], &file)?["restored"] == 1, "a file");
        ensure!(files(place.dir())? == before, "as it was");
        ensure!(json(place, "undelete", &[], &tree)?["restored"] == 0, "nothing left");
        place.unmount()
    })
}

#[test]
fn a_tree_comes_back_as_it_was_at_a_time() -> Result<()> {
    over_times("undelete-at", |place, objects| {
        objects.put("d/same", b"same")?;
        objects.put("d/changed", b"before")?;
        objects.put("d/deleted", b"gone")?;
        objects.put("d/both", b"first")?;
        let time = between(place, objects)?;
        objects.put("d/changed", b"after it")?;
        objects.delete("d/deleted")?;
        objects.put("d/both", b"second")?;
        objects.delete("d/both")?;
        objects.put("d/new", b"new")?;
        let tree = format!("{}/d/", objects.url());
        let done = json(place, "undelete", &["--at", &time], &tree)?;
        ensure!(done["restored"] == 3 && done["newer"] == 1 && done["failed"] == 0, "{done}");
        for (key, content) in [("d/same", "same"), ("d/changed", "before"), ("d/deleted", "gone"), ("d/both", "first")]
        {
            ensure!(objects.get(key)?.as_deref() == Some(content.as_bytes()), "{key}");
        }
        ensure!(objects.get("d/new")?.as_deref() == Some(b"new"), "what is newer stays");
        // Nothing was lost on the way.
        let versions = json(place, "versions", &[], &format!("{}/d/changed", objects.url()))?;
        let sizes: Vec<_> = versions.as_array().into_iter().flatten().map(|version| version["size"].clone()).collect();
        ensure!(sizes == [6, 8, 6].map(Value::from), "{versions}");
        Ok(())
    })
}

#[test]
fn a_mount_shows_what_was_there() -> Result<()> {
    over_times("at", |place, objects| {
        let (old, new) = (pattern(1, 1 << 20), pattern(2, 2 << 20));
        objects.put("a", b"first")?;
        objects.put("dir/large", &old)?;
        objects.put("gone/only", b"deleted later")?;
        let first = between(place, objects)?;
        objects.put("a", b"second")?;
        objects.put("dir/large", &new)?;
        objects.delete("gone/only")?;
        objects.put("later/file", b"x")?;
        let second = between(place, objects)?;
        objects.delete("a")?;
        objects.delete("dir/large")?;

        let then = expected(&[("a", b"first"), ("dir/large", &old), ("gone/only", b"deleted later")]);
        let now = expected(&[("a", b"second"), ("dir/large", &new), ("later/file", b"x")]);
        for (time, files_then, names) in
            [(&first, then, ["a", "clock", "dir", "gone"]), (&second, now, ["a", "clock", "dir", "later"])]
        {
            place.mount(&["--objects", "-o", &format!("at={time}")])?;
            // A name that nothing was listed of, first.
            ensure!(std::fs::read(place.path("a"))? == files_then["a"], "a at {time}");
            ensure!(files(place.dir())? == files_then, "at {time}");
            let there =
                std::fs::read_dir(place.dir())?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
            let mut there = there.collect::<Result<Vec<String>>>()?;
            there.sort();
            // Directories in which nothing was yet, or any more, were not there.
            ensure!(there == names, "{there:?}");
            let refused = std::fs::write(place.path("b"), "x").map_err(|error| error.raw_os_error());
            ensure!(refused == Err(Some(libc::EROFS)), "{refused:?}");
            place.unmount()?;
        }
        Ok(())
    })
}

#[test]
fn a_time_that_is_now_shows_what_is_there() -> Result<()> {
    over_versions("at-now", |place, objects| {
        let large = pattern(1, 1 << 20);
        objects.put("a", b"first")?;
        objects.put("a", b"second")?;
        objects.put("dir/large", &large)?;
        objects.put("deleted/file", b"x")?;
        objects.delete("deleted/file")?;
        let time = between(place, objects)?;
        // Of what is there, how it is now stays readable when it is replaced.
        place.mount(&["--objects", "-o", &format!("at={time}")])?;
        objects.put("unseen", b"x")?;
        ensure!(files(place.dir())? == expected(&[("a", b"second"), ("dir/large", &large)]), "now");
        ensure!(!place.path("deleted").exists() && !place.path("unseen").exists(), "not there");
        place.unmount()
    })
}

#[test]
fn a_bucket_without_versions_says_so() -> Result<()> {
    in_place(Setup::new("no-versions").store(StoreKind::S3s).empty(), |place| {
        let objects = Objects::of(place.store()?)?;
        objects.put("f", b"x")?;
        let url = format!("{}/f", objects.url());
        for command in ["versions", "undelete"] {
            let said = place.stoa_on(command, &[], &url)?;
            ensure!(!said.status.success() && said.stderr.contains("keeps no versions"), "{}", said.quoted());
        }
        let refused = place.mount(&["--objects", "-o", "at=2026-11-20T12:00"]);
        ensure!(refused.is_err_and(|error| format!("{error:?}").contains("keeps no versions")), "mounted");
        Ok(())
    })
}
