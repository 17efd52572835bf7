//! 11. What can't be mounted is refused with a message that says what is wrong, soon, and without a trace of a panic.

use anyhow::{Result, ensure};
use std::path::Path;
use std::time::{Duration, Instant};
use stoa_tests::command::{Output, program, shell};
use stoa_tests::{Place, Setup, StoreKind, in_place, tools};

/// Long enough for some retries, too short to look like a hang.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn p11_store_away() -> Result<()> {
    in_place(Setup::new("p11-away").store(StoreKind::s3()), |place| {
        place.unmount()?;
        place.store()?.stop()?;
        let started = Instant::now();
        let Err(refusal) = place.mount_on(&place.scratch().join("other"), &[]) else {
            anyhow::bail!("mounted without a store");
        };
        let text = format!("{refusal:#}").to_lowercase();
        ensure!(started.elapsed() < PATIENCE, "it took {} s to say so", started.elapsed().as_secs());
        ensure!(text.contains("127.0.0.1") && !text.contains("panicked"), "unclear: {text}");
        ensure!(
            ["connect", "reach"].iter().any(|word| text.contains(word)),
            "does not say that it can't be reached: {text}"
        );
        place.store()?.resume()?;
        place.mount(&[])
    })
}

#[test]
fn p11_not_a_volume() -> Result<()> {
    in_place(Setup::new("p11-none"), |place| {
        let empty = place.scratch().join("empty");
        std::fs::create_dir(&empty)?;
        expect(&mount(place, &empty)?, &["no Stoa volume", "stoa format"])?;
        expect(&mount(place, &place.scratch().join("missing"))?, &["missing"])?;
        shell("echo not ours > empty/file", place.scratch(), PATIENCE)?;
        expect(&place.stoa_on("format", &[], &empty)?, &["not empty"])
    })
}

#[test]
fn p11_formatted_already() -> Result<()> {
    in_place(Setup::new("p11-again"), |place| {
        std::fs::write(place.path("file"), "precious")?;
        place.unmount()?;
        expect(&place.stoa("format", &[])?, &["already"])?;
        place.mount(&[])?;
        ensure!(std::fs::read(place.path("file"))? == b"precious", "the volume was overwritten");
        Ok(())
    })
}

#[test]
fn p11_wrong_credentials_and_missing_bucket() -> Result<()> {
    in_place(Setup::new("p11-denied").store(StoreKind::s3()), |place| {
        place.unmount()?;
        let access = place.store()?.access();
        ensure!(!access.env.is_empty(), "this test needs an S3 server");
        let stoa = |secret: &str, url: &str| -> Result<Output> {
            let mut stoa = program(tools::stoa()?);
            stoa.envs(access.env.iter().map(|(name, value)| (name, value))).env("AWS_SECRET_ACCESS_KEY", secret);
            stoa.args(["fsck"]).args(&access.args).arg(url);
            stoa_tests::command::output(&mut stoa, PATIENCE)
        };
        let url = place.store()?.url().to_string_lossy().into_owned();
        let denied = stoa("a-wrong-secret", &url)?;
        expect(&denied, &["credential"])?;
        ensure!(!denied.quoted().contains("a-wrong-secret"), "the secret is in the message");
        let secret = access.env.last().map(|(_, secret)| secret.as_str()).unwrap_or_default();
        expect(&stoa(secret, "s3://no-such-bucket/volume")?, &["no-such-bucket"])
    })
}

fn mount(place: &Place, store: &Path) -> Result<Output> {
    let mut stoa = program(tools::stoa()?);
    let other = place.scratch().join("other");
    std::fs::create_dir_all(&other)?;
    stoa_tests::command::output(stoa.args(["mount", "--foreground"]).arg(store).arg(other), PATIENCE)
}

fn expect(output: &Output, words: &[&str]) -> Result<()> {
    let text = output.quoted();
    ensure!(!output.status.success(), "it succeeded: {text}");
    ensure!(output.status.code().is_some() && !text.contains("panicked"), "it crashed: {text}");
    for word in words {
        ensure!(text.to_lowercase().contains(&word.to_lowercase()), "the message lacks {word:?}: {text}");
    }
    Ok(())
}
