//! A server over TLS, whose certificate is of an authority of its own.

use anyhow::{Result, ensure};
use std::time::{Duration, Instant};
use stoa_tests::command::note;
use stoa_tests::{Place, Setup, StoreKind, in_place, tools};

/// Too short for any request to be repeated for the 20 s that a command waits for a server.
const AT_ONCE: Duration = Duration::from_secs(10);

fn over_tls(name: &'static str, test: impl FnOnce(&mut Place) -> Result<()>) -> Result<()> {
    if tools::installed("minio").is_none() {
        note(&format!("{name}: MinIO is not installed"));
        return Ok(());
    }
    in_place(Setup::new(name).store(StoreKind::MinioTls).empty(), test)
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
