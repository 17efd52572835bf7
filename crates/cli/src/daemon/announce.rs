//! What is said when a mount answers.

use crate::control::Record;
use crate::output;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A new mount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Announcement {
    /// It.
    #[serde(flatten)]
    pub(crate) record: Record,
    /// Whether the volume was made for it.
    pub(crate) created: bool,
    /// Whether it shows objects, and there is none yet.
    pub(crate) empty: bool,
    /// Whether other users see it.
    pub(crate) allow_other: bool,
}

impl Announcement {
    /// Prints it.
    pub(crate) fn print(&self, json: bool) {
        if json {
            output::json(self);
        } else {
            output::line(self.text(&program()));
        }
    }

    fn text(&self, program: &str) -> String {
        let record = &self.record;
        let dir = quoted(&record.mountpoint);
        let mut lines = Vec::new();
        if self.created {
            lines.push(format!("made a volume in {}", record.store));
        }
        let mode = if record.read_only { ", read-only" } else { "" };
        lines.push(format!("mounted {} on {} (pid {}{mode})", record.store, record.mountpoint, record.pid));
        if self.empty {
            lines.push("  note: there is no object in it yet; if there should be, check how it is spelled".into());
        }
        lines.push(format!("  look at it  {program} status {dir}"));
        lines.push(format!("  unmount it  {program} umount {dir}"));
        if let Some(log) = &record.log {
            lines.push(format!("  its log     {log}"));
        }
        if let Some(metrics) = &record.metrics {
            lines.push(format!("  metrics     {metrics}"));
        }
        if !self.allow_other {
            lines.push("  only you can see what is in it; -o allow_other lets other users in".into());
        }
        lines.join("\n")
    }
}

/// How this program is called from a shell: `stoa`, if that is found, or else its path.
fn program() -> String {
    let Ok(this) = std::env::current_exe() else {
        return "stoa".into();
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).any(|dir| dir.join("stoa").canonicalize().is_ok_and(|found| found == this));
    if found { "stoa".into() } else { quoted(&from_here(&this).display().to_string()) }
}

/// `path` seen from the working directory, if it lies below that.
fn from_here(path: &Path) -> PathBuf {
    let here = std::env::current_dir().ok().filter(|here| here.parent().is_some());
    here.and_then(|here| path.strip_prefix(here).map(Path::to_owned).ok()).unwrap_or_else(|| path.to_owned())
}

/// `text` as one word for a shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests;
