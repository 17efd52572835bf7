//! No Rust file over 600 lines.

use crate::shell;
use anyhow::{Context, Result, ensure};
use std::process::Command;

const LINES_MAX: usize = 600;

/// Checks every file that git knows or would take.
pub(crate) fn check() -> Result<()> {
    println!("$ file sizes");
    let mut list = Command::new("git");
    list.args(["ls-files", "--cached", "--others", "--exclude-standard", "-z", "*.rs"]).current_dir(shell::workspace());
    let list = list.output().context("git ls-files")?;
    ensure!(list.status.success(), "git ls-files: {}", String::from_utf8_lossy(&list.stderr));
    let mut large = Vec::new();
    for name in String::from_utf8(list.stdout)?.split('\0').filter(|name| !name.is_empty()) {
        // Listed but gone: it is being removed.
        let Ok(text) = std::fs::read_to_string(shell::workspace().join(name)) else { continue };
        let lines = text.lines().count();
        if lines > LINES_MAX {
            large.push(format!("{name}: {lines} lines"));
        }
    }
    ensure!(large.is_empty(), "over {LINES_MAX} lines:\n  {}", large.join("\n  "));
    Ok(())
}
