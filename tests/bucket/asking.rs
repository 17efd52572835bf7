//! What is asked of a mount of objects: `stoa info`, `stoa bench`.

use crate::setting::over_objects;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs::File;
use std::path::Path;
use stoa_tests::Place;

fn asked(place: &Place, command: &str, args: &[&str], path: &Path) -> Result<Value> {
    let said = place.stoa_on(command, &[&["--json"], args].concat(), path)?;
    ensure!(said.status.success(), "{}", said.quoted());
    serde_json::from_str(&said.stdout).with_context(|| said.quoted())
}

#[test]
fn info_names_the_object_of_a_file() -> Result<()> {
    over_objects(
        "info",
        &["--ttl", "1h"],
        |objects| objects.put("dir/cat.txt", b"meow"),
        |place, objects| {
            let stored = asked(place, "info", &[], &place.path("dir/cat.txt"))?;
            let etag = objects.info("dir/cat.txt")?.and_then(|info| info.etag).context("no tag")?;
            let key = |value: &Value| value["key"].as_str().is_some_and(|key| key.ends_with("dir/cat.txt"));
            ensure!(key(&stored) && stored["etag"] == etag.as_str() && stored["state"] == "stored", "{stored}");
            ensure!(stored["size"] == 4 && stored["kind"] == "regular", "{stored}");
            let directory = asked(place, "info", &[], &place.path("dir"))?;
            ensure!(directory["kind"] == "directory" && directory["state"] == "implied", "{directory}");
            // It is in the store when it is closed.
            let writing = File::create(place.path("dir/new"))?;
            let unstored = asked(place, "info", &[], &place.path("dir/new"))?;
            ensure!(unstored["state"] == "written" && unstored["etag"].is_null(), "{unstored}");
            drop(writing);
            let closed = asked(place, "info", &[], &place.path("dir/new"))?;
            ensure!(closed["state"] == "stored" && closed["etag"].is_string(), "{closed}");
            let said = place.stoa_on("info", &[], place.path("dir/cat.txt"))?;
            ensure!(said.stdout.contains("dir/cat.txt\"") && said.stdout.contains(&etag), "{}", said.quoted());
            // While the name is believed to be what it was.
            objects.put("dir/cat.txt", b"purr")?;
            let replaced = asked(place, "info", &[], &place.path("dir/cat.txt"))?;
            ensure!(replaced["state"] == "replaced", "{replaced}");
            objects.delete("dir/cat.txt")?;
            let gone = asked(place, "info", &[], &place.path("dir/cat.txt"))?;
            ensure!(gone["state"] == "gone", "{gone}");
            Ok(())
        },
    )
}

#[test]
fn bench_measures_the_store_and_the_files_and_leaves_nothing() -> Result<()> {
    over_objects(
        "bench",
        &[],
        |objects| objects.put("cat.txt", b"meow"),
        |place, objects| {
            let measured = asked(place, "bench", &["--size", "16M"], place.dir())?;
            for path in ["/store/put/bytes_per_second", "/mount/write_and_fsync/bytes_per_second"] {
                ensure!(measured.pointer(path).and_then(Value::as_f64).is_some_and(|rate| rate > 0.0), "{measured}");
            }
            ensure!(measured.pointer("/mount/read_back/bytes") == Some(&Value::from(16 << 20)), "{measured}");
            let left: Vec<_> = std::fs::read_dir(place.dir())?.collect::<Result<_, _>>()?;
            ensure!(left.len() == 1 && objects.uploads()? == 0, "left: {left:?}");
            ensure!(objects.info("cat.txt")?.is_some(), "what was there is gone");
            Ok(())
        },
    )
}
