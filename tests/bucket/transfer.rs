//! `stoa import` and `stoa export`: trees between a bucket and a volume.

use crate::setting::{on_all_servers, pattern};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use stoa_tests::command::{not_run, note, program, shell, until};
use stoa_tests::{Objects, Place, Setup, StoreKind, in_place, scale, tools};

const LIMIT: Duration = Duration::from_secs(120);

/// Runs a test with a mounted volume and, in the same bucket, objects beside it; on every server.
fn beside_objects(name: &'static str, test: impl Fn(&mut Place, Objects) -> Result<()>) -> Result<()> {
    on_all_servers(|store| beside_objects_in(name, store, &test))
}

fn beside_objects_in(
    name: &'static str,
    store: StoreKind,
    test: impl Fn(&mut Place, Objects) -> Result<()>,
) -> Result<()> {
    in_place(Setup::new(name).store(store).limit(scale::minutes(3, 10)), |place| {
        let objects = Objects::of(place.store()?)?.below("objects/");
        test(place, objects)?;
        place.unmount()?;
        place.expect_clean().map(drop)
    })
    .with_context(|| format!("on {store:?}"))
}

/// Runs one of the two commands; its report, and its exit code.
fn copy(place: &Place, command: &str, args: &[&str], target: &str) -> Result<(serde_json::Value, Option<i32>)> {
    let said = place.stoa_on(command, &[&["--json"], args].concat(), target)?;
    let report = serde_json::from_str(&said.stdout).with_context(|| said.quoted())?;
    Ok((report, said.status.code()))
}

fn import(place: &Place, objects: &Objects, into: &Path, args: &[&str]) -> Result<(serde_json::Value, Option<i32>)> {
    copy(place, "import", &[args, &[&objects.url()]].concat(), &into.to_string_lossy())
}

fn export(place: &Place, from: &Path, objects: &Objects, args: &[&str]) -> Result<(serde_json::Value, Option<i32>)> {
    copy(place, "export", &[args, &[&from.to_string_lossy()]].concat(), &objects.url())
}

/// The counts of a report, as far as they are asked for, and that all went well.
fn expect(done: &(serde_json::Value, Option<i32>), counts: &[(&str, u64)]) -> Result<()> {
    let (report, code) = done;
    ensure!(*code == Some(0), "exit code {code:?}: {report}");
    for (name, count) in counts {
        ensure!(report.get(name).and_then(serde_json::Value::as_u64) == Some(*count), "not {count} {name}: {report}");
    }
    Ok(())
}

fn made(place: &Place, name: &str) -> Result<std::path::PathBuf> {
    let dir = place.path(name);
    std::fs::create_dir(&dir)?;
    Ok(dir)
}

#[test]
fn objects_become_files_and_objects_again() -> Result<()> {
    let large = pattern(7, (20 << 20) + 5);
    beside_objects("both-ways", |place, objects| {
        objects.put("plain", b"one")?;
        objects.put("empty", b"")?;
        objects.put("dir/a b ü%.txt", b"two")?;
        objects.put("dir/large", &large)?;
        objects.put_with("dir/only/", b"", &[("mode", "16832"), ("mtime", "1500000000")])?;
        objects.put_with(
            "script",
            b"#!/bin/sh",
            &[("mode", "33261"), ("uid", "1000"), ("gid", "100"), ("mtime", "1609459200.25"), ("color", "red")],
        )?;
        objects.put_with("link", b"dir/large", &[("mode", "41471"), ("mtime", "1609459200")])?;
        let dir = made(place, "imported")?;
        expect(&import(place, &objects, &dir, &[])?, &[("files", 6), ("same", 0), ("unverifiable", 0)])?;

        ensure!(std::fs::read(dir.join("dir/large"))? == large, "large");
        ensure!(std::fs::read(dir.join("link"))? == large, "link");
        ensure!(std::fs::read(dir.join("dir/a b ü%.txt"))? == b"two", "odd name");
        let only = std::fs::metadata(dir.join("dir/only"))?;
        ensure!(only.is_dir() && only.mode() & 0o777 == 0o700 && only.mtime() == 1_500_000_000, "{only:?}");
        let script = std::fs::metadata(dir.join("script"))?;
        ensure!((script.mode() & 0o7777, script.uid(), script.gid()) == (0o755, 1000, 100), "{script:?}");
        ensure!((script.mtime(), script.mtime_nsec()) == (1_609_459_200, 250_000_000), "{script:?}");
        let color = shell("getfattr -n user.color --only-values script", &dir, LIMIT).or_else(|_| {
            shell("python3 -c 'import os; print(os.getxattr(\"script\", \"user.color\").decode())'", &dir, LIMIT)
        })?;
        ensure!(color.trim() == "red", "{color}");
        // The second time there is nothing to do.
        expect(&import(place, &objects, &dir, &[])?, &[("files", 0), ("same", 6)])?;

        let back = objects.below("back/");
        let exported = export(place, &dir, &back, &[])?;
        expect(&exported, &[("files", 6), ("directories", 2), ("attributes_left_out", 0)])?;
        for (key, content) in
            [("plain", &b"one"[..]), ("empty", b""), ("dir/a b ü%.txt", b"two"), ("dir/large", &large)]
        {
            ensure!(back.get(key)?.as_deref() == Some(content), "{key}");
        }
        let of = |key: &str| back.info(key)?.with_context(|| key.to_owned()).map(|info| info.headers.metadata);
        let script = of("script")?;
        for (name, value) in
            [("mode", "33261"), ("uid", "1000"), ("gid", "100"), ("mtime", "1609459200.250000000"), ("color", "red")]
        {
            ensure!(script.get(name).map(String::as_str) == Some(value), "{name}: {script:?}");
        }
        ensure!(back.get("link")?.as_deref() == Some(b"dir/large"), "link");
        ensure!(of("link")?.get("mode").map(String::as_str) == Some("41471"), "{:?}", of("link")?);
        ensure!(of("dir/only/")?.get("mode").map(String::as_str) == Some("16832"), "{:?}", of("dir/only/")?);
        expect(&export(place, &dir, &back, &[])?, &[("files", 0), ("same", 6), ("directories", 0)])?;
        ensure!(back.uploads()? == 0, "unfinished uploads");
        Ok(())
    })
}

#[test]
fn keys_that_are_no_paths_come_back() -> Result<()> {
    let long = "l".repeat(300);
    let keys =
        ["a//b", "dot/.", "dot/../up", "both", "both-not", "both/below", "%@", "line\nfeed", &long, "marked/", "nul\0"];
    // versitygw keeps objects in files, and has no place for such keys.
    beside_objects_in("odd-keys", StoreKind::S3s, |place, objects| {
        keys.iter().try_for_each(|key| objects.put(key, key.as_bytes()))?;
        let dir = made(place, "imported")?;
        expect(&import(place, &objects, &dir, &[])?, &[("files", keys.len() as u64)])?;
        ensure!(std::fs::read(dir.join("both%@file"))? == b"both", "beside");
        ensure!(std::fs::read(dir.join("dot/%@-../up"))? == b"dot/../up", "dots");
        let back = objects.below("back/");
        expect(&export(place, &dir, &back, &[])?, &[("files", keys.len() as u64)])?;
        for key in keys {
            ensure!(back.get(key)?.as_deref() == Some(key.as_bytes()), "{key:?}");
        }
        // Beside them, only markers.
        let own = back.keys()?.into_iter().filter(|key| !keys.contains(&key.as_str()));
        ensure!(own.clone().all(|key| key.ends_with('/')), "{:?}", own.collect::<Vec<_>>());
        Ok(())
    })
}

#[test]
fn what_differs_is_told_and_left() -> Result<()> {
    beside_objects("differs", |place, objects| {
        for key in ["same", "mine", "theirs", "replaced"] {
            objects.put(key, b"first")?;
        }
        let dir = made(place, "imported")?;
        std::fs::write(dir.join("mine"), "was there")?;
        let (report, code) = import(place, &objects, &dir, &[])?;
        ensure!(code == Some(1) && report["files"] == 3 && report["problems"][0]["name"] == "objects/mine", "{report}");
        ensure!(std::fs::read(dir.join("mine"))? == b"was there", "left");

        // Changed in the bucket: of what was not changed here, nothing is lost.
        objects.put("replaced", b"second")?;
        // Changed on both sides.
        objects.put("theirs", b"other")?;
        std::fs::write(dir.join("theirs"), "written here")?;
        let (report, code) = import(place, &objects, &dir, &[])?;
        ensure!(code == Some(1) && report["problem_count"] == 2 && report["same"] == 1, "{report}");
        ensure!(std::fs::read(dir.join("replaced"))? == b"second", "replaced");
        ensure!(std::fs::read(dir.join("theirs"))? == b"written here", "left");
        let (dry, _) = import(place, &objects, &dir, &["--overwrite", "--dry-run"])?;
        ensure!(dry["files"] == 2 && std::fs::read(dir.join("mine"))? == b"was there", "{dry}");
        expect(&import(place, &objects, &dir, &["--overwrite"])?, &[("files", 2), ("same", 2)])?;
        ensure!(std::fs::read(dir.join("theirs"))? == b"other", "overwritten");

        // The other way.
        std::fs::write(dir.join("mine"), "changed again")?;
        let (report, code) = export(place, &dir, &objects, &[])?;
        ensure!(code == Some(1) && report["problems"][0]["name"] == "mine", "{report}");
        ensure!(objects.get("mine")?.as_deref() == Some(b"first"), "left");
        let (report, code) = export(place, &dir, &objects, &["--overwrite"])?;
        ensure!(code == Some(0), "{report}");
        ensure!(objects.get("mine")?.as_deref() == Some(b"changed again"), "overwritten");
        Ok(())
    })
}

#[test]
fn what_is_no_file_is_told() -> Result<()> {
    beside_objects("no-file", |place, objects| {
        let dir = made(place, "files")?;
        shell("mkfifo fifo; echo x > 'wrong%@escape'; echo x > good; ln good other; printf x > $'\\xff'", &dir, LIMIT)?;
        let (report, code) = export(place, &dir, &objects, &[])?;
        ensure!(code == Some(1) && report["files"] == 2 && report["problem_count"] == 3, "{report}");
        ensure!(objects.get("good")?.as_deref() == Some(b"x\n") && objects.get("other")?.is_some(), "both names");
        // A link does not lead out of the tree.
        objects.put("out/passwd", b"x")?;
        let into = made(place, "into")?;
        std::os::unix::fs::symlink(place.scratch(), into.join("out"))?;
        let (report, code) = import(place, &objects, &into, &[])?;
        ensure!(code == Some(1) && report["problems"][0]["name"] == "objects/out/passwd", "{report}");
        ensure!(!place.scratch().join("passwd").exists(), "it went out");
        Ok(())
    })
}

/// Every file below a directory with what is in it.
/// Most likely it is mistyped: that nothing was copied is no success.
#[test]
fn an_import_from_where_nothing_is_fails() -> Result<()> {
    beside_objects("nothing-there", |place, objects| {
        objects.put("photos/a", b"one")?;
        let dir = made(place, "imported")?;
        let mistyped = Objects::of(place.store()?)?.below("objects/phots/");
        let said = place.stoa_on("import", &[&mistyped.url()], &dir)?;
        ensure!(said.status.code() == Some(1), "{}", said.quoted());
        ensure!(said.stderr.contains("objects/phots/") && said.stderr.contains("spelled"), "{}", said.quoted());
        ensure!(contents(&dir)?.is_empty(), "something was made");
        expect(&import(place, &objects.below("objects/photos/"), &dir, &[])?, &[("files", 1)])
    })
}

fn contents(dir: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        found.insert(entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path())?);
    }
    Ok(found)
}

#[test]
fn a_copy_that_was_killed_goes_on() -> Result<()> {
    let count = scale::pick(300, 3000);
    beside_objects("killed", |place, objects| {
        let content = |n: usize| pattern(n as u8, 1 + n * 37 % 5000);
        (0..count).try_for_each(|n| objects.put(&format!("f{n}"), &content(n)))?;
        objects.put("large", &pattern(3, 40 << 20))?;
        let dir = made(place, "imported")?;
        let access = place.store()?.access();
        let killed = |args: &[&str]| -> Result<bool> {
            let mut stoa = program(tools::stoa()?);
            stoa.envs(access.env.iter().map(|(name, value)| (name, value))).args(args).args(&access.args);
            let mut child = stoa.stdout(std::process::Stdio::null()).spawn()?;
            std::thread::sleep(Duration::from_millis(150));
            let running = child.try_wait()?.is_none();
            child.kill()?;
            child.wait()?;
            Ok(running)
        };
        let (url, path) = (objects.url(), dir.to_string_lossy().into_owned());
        note(&format!("the import still ran: {}", killed(&["import", &url, &path])?));
        for (name, found) in contents(&dir)?.iter().filter(|(name, _)| !name.starts_with(".stoa-import.")) {
            let whole = match name.strip_prefix('f') {
                Some(n) => content(n.parse()?),
                None => pattern(3, 40 << 20),
            };
            ensure!(*found == whole, "half of {name} under its name");
        }
        let (report, code) = import(place, &objects, &dir, &[])?;
        ensure!(code == Some(0), "{report}");
        let found = contents(&dir)?;
        ensure!(found.len() == count + 1, "{} files: something is left", found.len());
        ensure!(found["large"] == pattern(3, 40 << 20), "large");

        std::fs::remove_file(dir.join("large"))?;
        let back = objects.below("back/");
        note(&format!("the export still ran: {}", killed(&["export", &path, &back.url()])?));
        expect(&export(place, &dir, &back, &[])?, &[])?;
        for n in 0..count {
            ensure!(back.get(&format!("f{n}"))?.as_deref() == Some(content(n).as_slice()), "f{n}");
        }
        ensure!(back.uploads()? == 0, "unfinished uploads");
        Ok(())
    })
}

/// Names may be durable before the bytes are: a file may be empty then, and looks as if somebody had changed it.
#[test]
fn an_import_whose_mount_was_killed_goes_on() -> Result<()> {
    let count = scale::pick(600, 3000);
    beside_objects("mount-killed", |place, objects| {
        let content = |n: usize| pattern(n as u8, 5_000 + n % 70);
        (0..count).try_for_each(|n| objects.put(&format!("f{n}"), &content(n)))?;
        let dir = made(place, "imported")?;
        File::open(&dir)?.sync_all()?;
        let access = place.store()?.access();
        let mut stoa = program(tools::stoa()?);
        stoa.envs(access.env.iter().map(|(name, value)| (name, value)));
        stoa.arg("import").args(&access.args).arg(objects.url()).arg(&dir);
        let mut child = stoa.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        until("some are copied", LIMIT, || Ok(std::fs::read_dir(&dir)?.count() > count / 2))?;
        place.kill()?;
        child.wait()?;
        place.mount(&[])?;
        let cut = contents(&dir)?.iter().filter(|(name, found)| name.starts_with('f') && found.is_empty()).count();
        note(&format!("{cut} files were empty"));
        expect(&import(place, &objects, &dir, &[])?, &[])?;
        let found = contents(&dir)?;
        ensure!(found.len() == count, "{} files: something is left", found.len());
        for n in 0..count {
            ensure!(found[&format!("f{n}")] == content(n), "f{n} is not whole");
        }
        Ok(())
    })
}

#[test]
fn an_interrupt_leaves_nothing_half_done() -> Result<()> {
    beside_objects("interrupted", |place, objects| {
        objects.put("large", &pattern(3, 48 << 20))?;
        (0..200).try_for_each(|n| objects.put(&format!("f{n}"), b"small"))?;
        let dir = made(place, "imported")?;
        let access = place.store()?.access();
        let mut stoa = program(tools::stoa()?);
        stoa.envs(access.env.iter().map(|(name, value)| (name, value)));
        stoa.arg("import").args(&access.args).arg(objects.url()).arg(&dir).stdout(std::process::Stdio::null());
        let mut child = stoa.spawn()?;
        std::thread::sleep(Duration::from_millis(120));
        let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw).context("no process")?;
        rustix::process::kill_process(pid, rustix::process::Signal::INT)?;
        let status = child.wait()?;
        note(&format!("interrupted: {status}"));
        // Before it listens, the signal ends it; when it is done, there is nothing to interrupt.
        ensure!(matches!(status.code(), Some(130 | 0) | None), "{status}");
        let left: Vec<_> = contents(&dir)?.into_keys().filter(|name| name.starts_with(".stoa-import.")).collect();
        ensure!(left.is_empty(), "{left:?}");
        let (report, code) = import(place, &objects, &dir, &[])?;
        ensure!(code == Some(0) && contents(&dir)?.len() == 201, "{report}");
        Ok(())
    })
}

#[test]
fn damage_on_the_server_is_found() -> Result<()> {
    // Only its objects can be reached behind its back.
    if StoreKind::s3() == StoreKind::S3s {
        return not_run("damage", "versitygw is not installed");
    }
    beside_objects_in("damage", StoreKind::s3(), |place, objects| {
        objects.put("good", b"as it was")?;
        objects.put("bad", b"as it was")?;
        let stored = place.scratch().join("store/volumes/objects/bad");
        std::fs::set_permissions(&stored, std::fs::Permissions::from_mode(0o644))?;
        let mut bytes = std::fs::read(&stored)?;
        bytes[3] ^= 1;
        use std::io::Write;
        // In place: the tag is kept in an attribute of the file.
        std::fs::OpenOptions::new().write(true).open(&stored)?.write_all(&bytes)?;
        let dir = made(place, "imported")?;
        let (report, code) = import(place, &objects, &dir, &[])?;
        ensure!(code == Some(1) && report["files"] == 1 && report["problem_count"] == 1, "{report}");
        ensure!(report["problems"][0]["error"].as_str().is_some_and(|text| text.contains("--unverified")), "{report}");
        ensure!(contents(&dir)?.keys().collect::<Vec<_>>() == ["good"], "{:?}", contents(&dir)?.keys());
        expect(&import(place, &objects, &dir, &["--unverified"])?, &[("files", 1), ("same", 1)])
    })
}
