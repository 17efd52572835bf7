//! What killed programs leave at the server: `stoa uploads`.

use crate::setting::on_all_servers;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use stoa_tests::{Objects, Place, Setup, StoreKind, in_place, scale};

/// The keys of what is listed, and whether each was given up.
fn listed(place: &Place, args: &[&str], url: &str) -> Result<Vec<(String, bool)>> {
    let said = place.stoa_on("uploads", &[&["--json"], args].concat(), url)?;
    ensure!(said.status.success(), "{}", said.quoted());
    let uploads: Vec<Value> = serde_json::from_str(&said.stdout).with_context(|| said.quoted())?;
    let of = |upload: &Value| {
        ensure!(upload.get("begun").is_some_and(Value::is_string), "begun at no time: {upload}");
        let key = upload.get("key").and_then(Value::as_str).context("no key")?;
        Ok((key.to_owned(), upload.get("aborted") == Some(&Value::Bool(true))))
    };
    uploads.iter().map(of).collect()
}

fn on(store: StoreKind) -> Result<()> {
    in_place(Setup::new("uploads").store(store).empty().limit(scale::minutes(2, 5)), |place| {
        let objects = Objects::of(place.store()?)?.below("left/");
        let expected = |keys: &[&str], aborted: bool| -> Vec<(String, bool)> {
            keys.iter().map(|key| (format!("left/{key}"), aborted)).collect()
        };
        for key in ["a", "a b", "dir/c"] {
            objects.abandon_upload(key)?;
        }
        let one = format!("{}/a", objects.url());
        ensure!(listed(place, &[], &one)? == expected(&["a"], false), "of a key: {:?}", listed(place, &[], &one)?);
        // They are too young to be given up without a word about ages.
        ensure!(listed(place, &["--abort"], &one)?.is_empty(), "a young upload was given up");
        ensure!(objects.uploads_of("a")? == 1, "a young upload was given up");
        ensure!(listed(place, &["--abort", "--older-than", "0"], &one)? == expected(&["a"], true), "not given up");
        ensure!(objects.uploads_of("a")? == 0 && objects.uploads_of("a b")? == 1, "the wrong ones were given up");
        // MinIO lists uploads of one key only.
        if store != StoreKind::Minio {
            let below = format!("{}/", objects.url());
            ensure!(
                listed(place, &[], &below)? == expected(&["a b", "dir/c"], false),
                "{:?}",
                listed(place, &[], &below)?
            );
            let said = place.stoa_on("uploads", &["--abort", "--older-than", "0"], &below)?;
            ensure!(
                said.stdout.contains("left/dir/c") && said.stdout.contains("2 uploads given up"),
                "{}",
                said.quoted()
            );
            ensure!(objects.uploads()? == 0, "some are left");
        }
        Ok(())
    })
    .with_context(|| format!("on {store:?}"))
}

#[test]
fn uploads_that_nobody_completes_are_shown_and_given_up() -> Result<()> {
    on_all_servers(on)
}
