//! Files and directories that are renamed through a mount.

use crate::setting::{over_objects, over_objects_in, pattern};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;
use stoa_tests::command::{shell, until};
use stoa_tests::{Objects, Place, StoreKind, scale};

const LIMIT: Duration = Duration::from_secs(120);

fn nothing(_: &Objects) -> Result<()> {
    Ok(())
}

fn refused(result: std::io::Result<()>, errno: i32) -> Result<()> {
    ensure!(result.as_ref().is_err_and(|error| error.raw_os_error() == Some(errno)), "{result:?}, and not {errno}");
    Ok(())
}

#[test]
fn what_shells_and_editors_do() -> Result<()> {
    let script = "echo one > a; mv a b; test \"$(cat b)\" = one; test ! -e a; echo two > a; mv a b; test \"$(cat b)\" = two
        mkdir -p d/e; mv b d/e/c; mv d f; test \"$(cat f/e/c)\" = two; test ! -e d; mkdir g; mv -T f g; mv g/e/c .; ls -R
        test \"$(find . -type f | sort | tr '\\n' ' ')\" = './c '; rm -r g
        for n in 1 2 3 4 5; do echo $n > c.tmp; mv c.tmp c; test \"$(cat c)\" = $n; done; sed -i s/5/6/ c; test \"$(cat c)\" = 6
        printf 'x%.0s' $(seq 100) > c.new; ln c c.bak 2>/dev/null || cp c c.bak; mv c.new c; test $(wc -c < c) = 100; cat c.bak | grep -q 6";
    over_objects("mv", &[], nothing, |place, objects| {
        shell(script, place.dir(), LIMIT)?;
        ensure!(objects.keys()? == ["c", "c.bak"], "{:?}", objects.keys()?);
        ensure!(objects.uploads()? == 0, "unfinished uploads");
        Ok(())
    })
}

#[test]
fn errors_are_those_of_rename() -> Result<()> {
    let plant = |objects: &Objects| ["file", "other", "full/x"].iter().try_for_each(|key| objects.put(key, b"content"));
    over_objects("mv-errors", &[], plant, |place, objects| {
        let mv = |from: &str, to: &str| std::fs::rename(place.path(from), place.path(to));
        std::fs::create_dir(place.path("empty"))?;
        refused(mv("file", "empty"), libc::EISDIR)?;
        refused(mv("empty", "file"), libc::ENOTDIR)?;
        refused(mv("empty", "full"), libc::ENOTEMPTY)?;
        refused(mv("full", "full/below"), libc::EINVAL)?;
        refused(mv("missing", "x"), libc::ENOENT)?;
        let (from, to) = ("file".to_owned(), "other".to_owned());
        let with = |flags: &str| {
            format!(
                "python3 -c \"import ctypes,os,sys; r=ctypes.CDLL(None,use_errno=True).renameat2(-100,b'{from}',-100,b'{to}',{flags}); print(ctypes.get_errno() if r else 0)\""
            )
        };
        ensure!(shell(&with("1"), place.dir(), LIMIT)?.trim() == libc::EEXIST.to_string(), "RENAME_NOREPLACE");
        ensure!(shell(&with("2"), place.dir(), LIMIT)?.trim() == libc::ENOTSUP.to_string(), "RENAME_EXCHANGE");
        mv("file", "file")?;
        ensure!(objects.keys()? == ["empty/", "file", "full/x", "other"], "{:?}", objects.keys()?);
        Ok(())
    })
}

#[test]
fn open_files_follow() -> Result<()> {
    let content = pattern(3, 20 << 20);
    over_objects(
        "mv-open",
        &[],
        |objects| objects.put("dir/old", &content),
        |place, objects| {
            let mut reading = File::open(place.path("dir/old"))?;
            let mut start = vec![0; 1000];
            reading.read_exact(&mut start)?;
            std::fs::rename(place.path("dir/old"), place.path("dir/new"))?;
            std::fs::rename(place.path("dir"), place.path("folder"))?;
            let mut rest = Vec::new();
            reading.read_to_end(&mut rest)?;
            ensure!([start, rest].concat() == content, "what was open");
            let mut writing = File::options().append(true).open(place.path("folder/new"))?;
            writing.write_all(b"more")?;
            std::fs::rename(place.path("folder"), place.path("dir"))?;
            writing.write_all(b" and more")?;
            drop(writing);
            ensure!(objects.get("dir/new")? == Some([content.as_slice(), b"more and more"].concat()), "written");
            reading.seek(SeekFrom::End(-4))?;
            let mut end = String::new();
            reading.read_to_string(&mut end)?;
            ensure!(end == "more" && objects.keys()? == ["dir/new"], "{end:?} {:?}", objects.keys()?);
            Ok(())
        },
    )
}

#[test]
fn what_somebody_else_wrote_is_not_replaced() -> Result<()> {
    let plant = |objects: &Objects| ["a", "b"].iter().try_for_each(|key| objects.put(key, key.as_bytes()));
    over_objects("mv-foreign", &[], plant, |place, objects| {
        ensure!(std::fs::read_dir(place.dir())?.count() == 2, "two files");
        objects.put("a", b"of somebody else")?;
        // The kernel looks again, and what is there by now is renamed.
        std::fs::rename(place.path("a"), place.path("c"))?;
        ensure!(objects.get("c")? == Some(b"of somebody else".to_vec()), "the newest content");
        Ok(())
    })
}

fn all(objects: &Objects) -> Result<BTreeMap<String, Vec<u8>>> {
    let content = |key: String| Ok((key.clone(), objects.get(&key)?.context(key)?));
    objects.keys()?.into_iter().map(content).collect()
}

fn files(dir: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut found = BTreeMap::new();
    for path in shell("find . -type f -printf '%P\\n'", dir, LIMIT)?.lines() {
        let content = std::fs::read(dir.join(path)).with_context(|| path.to_owned())?;
        ensure!(found.insert(path.to_owned(), content).is_none(), "{path} twice");
    }
    Ok(found)
}

#[test]
fn a_tree_is_renamed_through_every_crash() -> Result<()> {
    let count = scale::pick(200, 600);
    let keys = || (0..count).map(|n| format!("{}/f{n}", ["", "/a", "/b/c"][n % 3]));
    let plant = |objects: &Objects| keys().try_for_each(|key| objects.put(&format!("old{key}"), key.as_bytes()));
    for store in StoreKind::s3_servers() {
        let delays = if store == StoreKind::S3s { [0, 40, 120, 250] } else { [30, 150, 400, 900] };
        over_objects_in("mv-crash", store, &[], plant, |place, objects| {
            let (mut from, mut to) = ("old", "new");
            for delay in delays {
                let renamed = place
                    .kill_during(Duration::from_millis(delay), |dir| std::fs::rename(dir.join(from), dir.join(to)))?;
                remount(place)?;
                // The directory may get its new name just while it is walked, which happens once.
                let shown = files(place.dir()).or_else(|_| files(place.dir()))?;
                let top = shown.keys().next().and_then(|key| key.split('/').next()).context("no files")?.to_owned();
                let wanted: BTreeMap<_, _> = keys().map(|key| (format!("{top}{key}"), key.into_bytes())).collect();
                let differs = wanted.iter().find(|(key, content)| shown.get(*key) != Some(content));
                ensure!(
                    shown.len() == count && differs.is_none(),
                    "after {delay} ms: {} files, {differs:?}",
                    shown.len()
                );
                ensure!(renamed.is_err() || top == to, "it was told that it is done");
                until("the rename is finished", LIMIT, || {
                    Ok(place
                        .status()?
                        .pointer("/0/objects/renames")
                        .is_some_and(|it| it.as_array().is_some_and(Vec::is_empty)))
                })?;
                let shown = files(place.dir())?;
                ensure!(shown == all(objects)? && shown.len() == count, "after {delay} ms: {} files", shown.len());
                if shown.keys().all(|key| key.starts_with(to)) {
                    (from, to) = (to, from);
                }
            }
            ensure!(objects.uploads()? == 0, "unfinished uploads");
            Ok(())
        })?;
    }
    Ok(())
}

fn remount(place: &mut Place) -> Result<()> {
    place.mount(&["--objects"])
}
