//! Licences, sources and known faults of the crates we use, by cargo-deny.

use crate::shell;
use anyhow::{Result, ensure};
use std::process::Command;

/// Checks with deny.toml. Advisories need a database from the net; without it that part is left out, and said so.
pub(crate) fn check() -> Result<()> {
    let deny = shell::tools().join("bin/cargo-deny");
    ensure!(deny.exists(), "cargo-deny is not installed: run `cargo xtask setup`");
    let check = |what: &[&str]| {
        let mut command = Command::new(&deny);
        command
            .args(["--log-level", "error", "check", "--hide-inclusion-graph"])
            .args(what)
            .current_dir(shell::workspace());
        command
    };
    shell::run(&mut check(&["licenses", "bans", "sources"]))?;
    let mut fetch = Command::new(&deny);
    fetch.args(["--log-level", "off", "fetch", "db"]).current_dir(shell::workspace());
    if fetch.output().is_ok_and(|output| output.status.success()) {
        shell::run(&mut check(&["advisories"]))
    } else {
        println!("the database of advisories can't be reached: advisories were NOT checked");
        Ok(())
    }
}
