//! Content: whole, in part, by several at once, and of objects that are replaced meanwhile.

use crate::setting::{over_objects, pattern, requests, traffic};
use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;
use stoa_tests::Place;
use stoa_tests::command::shell;

const MIB: usize = 1 << 20;
const LIMIT: Duration = Duration::from_secs(120);

#[test]
fn content_is_the_objects() -> Result<()> {
    let content = pattern(1, 20 * MIB + 12_345);
    over_objects(
        "reads",
        &[],
        |objects| objects.put("large", &content).and_then(|()| objects.put("empty", b"")),
        |place, _| {
            ensure!(std::fs::read(place.path("large"))? == content, "large");
            ensure!(std::fs::read(place.path("empty"))?.is_empty(), "empty");
            let copied = shell("cp large empty ../ && cmp large ../large && stat -c %s large", place.dir(), LIMIT)?;
            ensure!(copied.trim() == content.len().to_string(), "{copied}");
            Ok(())
        },
    )
}

#[test]
fn a_small_read_fetches_little() -> Result<()> {
    let content = pattern(2, 64 * MIB);
    over_objects(
        "little",
        &[],
        |objects| objects.put("large", &content),
        |place, _| {
            let file = File::open(place.path("large"))?;
            let (requests, bytes) = traffic(place)?;
            let mut part = [0; 4096];
            file.read_exact_at(&mut part, 40 * MIB as u64)?;
            ensure!(part == content[40 * MIB..40 * MIB + 4096], "another content");
            let (after, fetched) = traffic(place)?;
            ensure!(
                after - requests <= 2 && fetched - bytes <= MIB as u64,
                "{} requests, {} bytes",
                after - requests,
                fetched - bytes
            );
            Ok(())
        },
    )
}

#[test]
fn readers_of_one_object_share_its_download() -> Result<()> {
    let content = pattern(3, 24 * MIB);
    over_objects(
        "share",
        &[],
        |objects| objects.put("large", &content),
        |place, _| {
            let script =
                "for n in 1 2 3 4; do (dd if=large bs=1M iflag=direct status=none | cmp - ../expected) & done; wait";
            std::fs::write(place.scratch().join("expected"), &content)?;
            let before = traffic(place)?.1;
            shell(script, place.dir(), LIMIT)?;
            let fetched = traffic(place)?.1 - before;
            ensure!(fetched <= 2 * content.len() as u64, "{fetched} bytes for four readers of {}", content.len());
            Ok(())
        },
    )
}

#[test]
fn a_replaced_object_is_stale_and_never_a_mix() -> Result<()> {
    let (old, new) = (vec![b'o'; 40 * MIB], vec![b'n'; 40 * MIB]);
    over_objects(
        "stale",
        &[],
        |objects| objects.put("file", &old),
        |place, objects| {
            let file = File::open(place.path("file"))?;
            let mut part = vec![0; 4096];
            file.read_exact_at(&mut part, 0)?;
            ensure!(part.iter().all(|byte| *byte == b'o'), "old bytes");
            objects.put("file", &new)?;
            let refused = (0..40).map(|at| {
                file.read_exact_at(&mut part, at * MIB as u64).map(|()| part.iter().all(|byte| *byte == b'o'))
            });
            let refused: Vec<_> = refused.collect();
            let stale = |result: &std::io::Result<bool>| {
                result.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::ESTALE))
            };
            ensure!(refused.iter().any(stale), "nothing says that it is stale");
            ensure!(
                refused.iter().all(|result| stale(result) || result.as_ref().is_ok_and(|old| *old)),
                "a mix: {refused:?}"
            );
            // Though what was heard of it is still believed, a read knows better.
            let again = std::fs::read(place.path("file")).context("opened again")?;
            ensure!(again == new, "another content than the new one");
            // Nor does what the new one brought into the page cache get into the old one.
            let late = file.read_exact_at(&mut part, 39 * MIB as u64);
            ensure!(late.is_err() || part.iter().all(|byte| *byte == b'o'), "a mix");
            Ok(())
        },
    )
}

#[test]
fn what_was_changed_is_opened_as_it_is_now() -> Result<()> {
    let names = ["shorter", "same", "longer", "large", "appended", "edited", "gone", "made"];
    over_objects(
        "opened",
        &["--ttl", "10m"],
        |objects| names.iter().try_for_each(|name| objects.put(&format!("dir/{name}"), b"the old one")),
        |place, objects| {
            let cost = |place: &Place, name: &str, expected: &[u8]| -> Result<u64> {
                let (read, cost) =
                    requests(place, || std::fs::read(place.path("dir").join(name)).context(name.to_owned()))?;
                ensure!(read == expected, "{name}: another content");
                Ok(cost)
            };
            shell("ls -l dir", place.dir(), LIMIT)?;
            let large = pattern(4, 5 * MIB);
            for (name, new) in [
                ("shorter", &b"new"[..]),
                ("same", b"the new one"),
                ("longer", b"the one that is new"),
                ("large", &large),
            ] {
                objects.put(&format!("dir/{name}"), new)?;
                // It still seems to be the old one.
                ensure!(std::fs::metadata(place.path("dir").join(name))?.len() == 11, "{name} is not believed");
                let first = cost(place, name, new)?;
                ensure!(
                    first <= 3 || name == "large",
                    "{name}: {first} requests: one refused, one look and one GET would do"
                );
                ensure!(cost(place, name, new)? == 0, "{name}: read again");
                ensure!(
                    std::fs::metadata(place.path("dir").join(name))?.len() == new.len() as u64,
                    "{name}: its length"
                );
            }
            for name in ["appended", "edited"] {
                objects.put(&format!("dir/{name}"), b"the new one")?;
            }
            shell("echo ! >> dir/appended && printf THE | dd of=dir/edited conv=notrunc", place.dir(), LIMIT)?;
            ensure!(objects.get("dir/appended")?.as_deref() == Some(b"the new one!\n"), "appended to");
            ensure!(objects.get("dir/edited")?.as_deref() == Some(b"THE new one"), "edited");
            objects.delete("dir/gone")?;
            objects.delete("dir/made")?;
            let gone = std::fs::read(place.path("dir/gone")).map_err(|error| error.kind());
            ensure!(gone == Err(std::io::ErrorKind::NotFound), "{gone:?}");
            shell("echo new >> dir/made", place.dir(), LIMIT)?;
            ensure!(objects.get("dir/made")?.as_deref() == Some(b"new\n"), "made anew");
            let left = shell("ls dir | sort | tr '\\n' ' '", place.dir(), LIMIT)?;
            ensure!(left.trim() == "appended edited large longer made same shorter", "{left}");
            Ok(())
        },
    )
}

#[test]
fn nothing_is_written() -> Result<()> {
    over_objects(
        "read-only",
        &["-o", "ro"],
        |objects| objects.put("file", b"content"),
        |place, _| {
            let refused =
                |result: std::io::Result<()>| result.is_err_and(|error| error.raw_os_error() == Some(libc::EROFS));
            ensure!(refused(std::fs::write(place.path("new"), "x")), "create");
            ensure!(refused(File::options().append(true).open(place.path("file")).map(drop)), "append");
            ensure!(refused(std::fs::remove_file(place.path("file"))), "unlink");
            ensure!(refused(std::fs::create_dir(place.path("dir"))), "mkdir");
            ensure!(refused(std::fs::rename(place.path("file"), place.path("other"))), "rename");
            ensure!(std::fs::read(place.path("file"))? == b"content", "content");
            let mode = place.status()?.pointer("/0/read_only").and_then(serde_json::Value::as_bool);
            ensure!(mode == Some(true), "the status does not say that it is read-only");
            Ok(())
        },
    )
}
