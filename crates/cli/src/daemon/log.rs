//! Where the log goes.

mod file;

use crate::args::LogTarget;
use crate::control::uid;
use crate::failure::{Failure, Outcome};
use std::fs::DirBuilder;
use std::io::IsTerminal;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tracing_subscriber::EnvFilter;

/// The longest name that is made of a mount point, so that file systems take it.
const NAME_BYTES_MAX: usize = 200;

/// What these libraries log, our own errors say with what to do about it.
const SAID_BY_US: &str = "aws_config=error,rustls_platform_verifier=off";

/// What to log, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Log {
    /// Which messages.
    filter: String,
    /// Into which file; stderr if none.
    file: Option<PathBuf>,
}

impl Log {
    /// For the mount on `mountpoint`: what `targets` say, else, in the background, a file of its own.
    pub(crate) fn of_mount(targets: &[LogTarget], mountpoint: &Path, foreground: bool) -> Outcome<Self> {
        let mut log = Self { filter: filter("info"), file: None };
        for target in targets {
            match target {
                LogTarget::Filter(text) => log.filter = filter(text),
                LogTarget::File(path) => {
                    let absolute =
                        std::path::absolute(path).map_err(|error| Failure::because(path.display(), &error))?;
                    log.file = Some(absolute);
                }
            }
        }
        if log.file.is_none() && !foreground {
            log.file = Some(directory()?.join(name(mountpoint)));
        }
        Ok(log)
    }

    /// For a command that has the terminal: failures only, and more the more `verbose` it is.
    pub(crate) fn of_command(verbose: u8) -> Self {
        let level = match verbose {
            0 => format!("error,{SAID_BY_US}"),
            1 => filter("info"),
            _ => filter("debug"),
        };
        Self { filter: level, file: None }
    }

    /// The file, if it goes into one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Begins to log. Panics are logged too: in the background nobody would see them otherwise.
    pub(crate) fn start(&self) -> Outcome<()> {
        let filter = EnvFilter::try_new(&self.filter).map_err(|error| {
            Failure::because(format_args!("--log {}", self.filter), &error).code_is(crate::failure::USAGE)
        })?;
        let builder = tracing_subscriber::fmt().with_env_filter(filter);
        let started = match &self.file {
            Some(path) => {
                let file = file::LogFile::open(path)
                    .map_err(|error| Failure::because(format_args!("log {}", path.display()), &error))?;
                builder.with_ansi(false).with_writer(Mutex::new(file)).try_init()
            }
            None => builder.with_ansi(std::io::stderr().is_terminal()).with_writer(std::io::stderr).try_init(),
        };
        started.map_err(|error| Failure::of(&*error))?;
        std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
        Ok(())
    }
}

/// A plain level is for our own crates; the libraries below are chatty at it.
fn filter(text: &str) -> String {
    let is_level = text != "off" && !text.contains(['=', ',']);
    if is_level { format!("warn,{SAID_BY_US},stoa={text}") } else { text.to_owned() }
}

/// `/mnt/my files` as `mnt-my files.log`.
fn name(mountpoint: &Path) -> String {
    let text = mountpoint.to_string_lossy();
    let name = text.trim_start_matches('/').replace('/', "-");
    // The end of a path tells more than its beginning.
    let mut start = name.len().saturating_sub(NAME_BYTES_MAX);
    while !name.is_char_boundary(start) {
        start += 1;
    }
    format!("{}.log", name.get(start..).unwrap_or("mount"))
}

/// `/var/log/stoa` for root, else `$XDG_STATE_HOME/stoa` or `~/.local/state/stoa`; made if it is missing.
fn directory() -> Outcome<PathBuf> {
    let given = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let dir = if uid() == 0 {
        PathBuf::from("/var/log/stoa")
    } else {
        let state = given("XDG_STATE_HOME").or_else(|| Some(given("HOME")?.join(".local/state")));
        state
            .ok_or_else(|| Failure::new("there is no place for a log: HOME is not set").advise("--log FILE names one"))?
            .join("stoa")
    };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&dir);
    made.map_err(|error| {
        Failure::because(format_args!("log directory {}", dir.display()), &error)
            .advise("--log FILE names another place")
    })?;
    Ok(dir)
}

#[cfg(test)]
mod tests;
