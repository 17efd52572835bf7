//! Where the programs are that tests run.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};

/// The workspace.
///
/// # Errors
/// If this crate does not lie in one.
pub fn workspace() -> Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the crate lies in no workspace")
}

/// The binary under test, as an absolute path.
///
/// # Errors
/// If there is none.
pub fn stoa() -> Result<PathBuf> {
    if let Some(given) = std::env::var_os("STOA_BIN") {
        return std::path::absolute(PathBuf::from(given)).context("STOA_BIN");
    }
    let target = workspace()?.join("target");
    ["release/stoa", "debug/stoa"]
        .iter()
        .map(|name| target.join(name))
        .find(|path| path.exists())
        .context("no stoa binary: run `cargo build --release`, or set STOA_BIN")
}

/// A program that `cargo xtask setup` installs, if it is there.
#[must_use]
pub fn installed(name: &str) -> Option<PathBuf> {
    let path = workspace().ok()?.join("target/tools/bin").join(name);
    path.exists().then_some(path)
}

/// A program that `cargo xtask setup` installs.
///
/// # Errors
/// If it is not there.
pub fn tool(name: &str) -> Result<PathBuf> {
    installed(name).with_context(|| format!("{name} is not installed: run `cargo xtask setup`"))
}

/// Fails unless this process is root.
///
/// # Errors
/// If it is not.
pub fn need_root(why: &str) -> Result<()> {
    ensure!(rustix::process::geteuid().is_root(), "this test must run as root: {why}");
    Ok(())
}
