//! Every key is a path.

use crate::setting::{over_objects, over_objects_in};
use anyhow::{Result, ensure};
use stoa_tests::StoreKind;

#[test]
fn plain_keys_are_plain_paths() -> Result<()> {
    let keys = ["cat.jpg", "photos/2024/a b.jpg", "photos/2024/ü+%.jpg", "100%", "back\\slash", ".hidden"];
    over_objects(
        "names",
        &[],
        |objects| keys.iter().try_for_each(|key| objects.put(key, key.as_bytes())),
        |place, _| {
            for key in keys {
                ensure!(std::fs::read(place.path(key))? == key.as_bytes(), "{key}");
            }
            Ok(())
        },
    )
}

#[test]
fn keys_that_are_no_paths_are_escaped() -> Result<()> {
    let long = "l".repeat(300);
    let keys = [
        ("a//b", "a/%@-/b"),
        ("dot/.", "dot/%@-."),
        ("dot/../up", "dot/%@-../up"),
        ("both", "both%@file"),
        ("both/below", "both/below"),
        ("%@", "%@@"),
        ("line\nfeed", "line\nfeed"),
        (long.as_str(), &format!("{}%@+/{}", "l".repeat(252), "l".repeat(48))),
    ];
    let plant = |objects: &stoa_tests::Objects| keys.iter().try_for_each(|(key, _)| objects.put(key, key.as_bytes()));
    // versitygw keeps objects in files, and has no place for such keys.
    over_objects_in("escapes", StoreKind::S3s, &[], plant, |place, _| {
        for (key, path) in &keys {
            let content = std::fs::read(place.path(path));
            ensure!(content.as_ref().is_ok_and(|content| content == key.as_bytes()), "{path}: {content:?}");
        }
        let count = stoa_tests::tree::survey(place.dir())?.len();
        ensure!(count >= keys.len(), "{count}");
        Ok(())
    })
}
