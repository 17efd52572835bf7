//! A server over TLS, whose certificate is of an authority of its own.

use crate::setting::pattern;
use anyhow::{Result, ensure};
use std::time::{Duration, Instant};
use stoa_tests::command::not_run;
use stoa_tests::{Objects, Place, Setup, StoreKind, in_place, tools};

/// Too short for any request to be repeated for the 20 s that a command waits for a server.
const AT_ONCE: Duration = Duration::from_secs(10);

fn over_tls(name: &'static str, test: impl FnOnce(&mut Place) -> Result<()>) -> Result<()> {
    if tools::installed("minio").is_none() {
        return not_run(name, "MinIO is not installed");
    }
    in_place(Setup::new(name).store(StoreKind::MinioTls).empty(), test)
}

/// Mounts it, writes and reads.
fn works(place: &mut Place, args: &[&str]) -> Result<()> {
    let large = pattern(3, 20 << 20);
    place.mount(args)?;
    std::fs::write(place.path("large"), &large)?;
    place.unmount()?;
    place.mount(args)?;
    ensure!(std::fs::read(place.path("large"))? == large, "read with {args:?}");
    place.unmount()
}

#[test]
fn who_names_the_authority_gets_files_and_volumes() -> Result<()> {
    over_tls("tls", |place| {
        works(place, &["--objects"])?;
        let objects = Objects::of(place.store()?)?;
        ensure!(objects.keys()? == ["large"], "{:?}", objects.keys()?);
        // A volume goes by another client than objects as files.
        objects.delete("large")?;
        works(place, &["--create"])?;
        for variable in ["STOA_CA_FILE", "AWS_CA_BUNDLE"] {
            place.store()?.trust_by(Some(variable))?;
            works(place, &[])?;
            works(place, &["--objects"])?;
        }
        Ok(())
    })
}

#[test]
fn who_does_not_know_the_authority_is_told_so_at_once() -> Result<()> {
    over_tls("tls-unknown", |place| {
        place.store()?.trust_by(None)?;
        for args in [&["--objects"][..], &["--create"]] {
            let started = Instant::now();
            let Err(refusal) = place.mount(args) else { anyhow::bail!("mounted with {args:?}") };
            let (took, said) = (started.elapsed(), format!("{refusal:#}"));
            ensure!(took < AT_ONCE, "it took {took:?} to say: {said}");
            for word in ["https://127.0.0.1:", "certificate", "authority", "--ca-file"] {
                ensure!(said.contains(word), "the message lacks {word:?}: {said}");
            }
        }
        Ok(())
    })
}
