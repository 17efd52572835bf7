//! The release binary, with its default settings.

use super::Recipe;
use crate::mount::Mounted;
use crate::server::program;
use crate::store::{BUCKET, REGION, Store};
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use stoa_tests::{command, tools};

const FORMAT_LIMIT: Duration = Duration::from_secs(60);

/// What it mounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Volume,
    Objects,
}

#[derive(Debug)]
pub(super) struct Stoa {
    what: What,
    /// Of credentials and the control socket.
    variables: Vec<(&'static str, String)>,
    flags: Vec<String>,
    runtime_dir: PathBuf,
}

impl Stoa {
    /// Makes an empty volume.
    pub(super) fn format(store: &Store, scratch: &Path) -> Result<Self> {
        let stoa = Self::new(What::Volume, store, scratch);
        command::run(&mut stoa.command(&["format"])?, FORMAT_LIMIT)?;
        Ok(stoa)
    }

    /// The objects of the bucket as files.
    pub(super) fn objects(store: &Store, scratch: &Path) -> Self {
        Self::new(What::Objects, store, scratch)
    }

    fn new(what: What, store: &Store, scratch: &Path) -> Self {
        let runtime_dir = scratch.join("stoa-run");
        let mut variables: Vec<_> = store.credentials().map(|(name, value)| (name, value.to_owned())).to_vec();
        variables.push(("STOA_RUNTIME_DIR", runtime_dir.display().to_string()));
        let flags = ["--endpoint", store.endpoint(), "--region", REGION, "--path-style"].map(str::to_owned).to_vec();
        Self { what, variables, flags, runtime_dir }
    }

    fn command(&self, words: &[&str]) -> Result<Command> {
        let mut command = program(tools::stoa()?);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.args(words).args(&self.flags);
        match self.what {
            What::Volume => command.arg(format!("s3://{BUCKET}/volume")),
            What::Objects => command.arg("--objects").arg(format!("s3://{BUCKET}")),
        };
        Ok(command)
    }
}

impl Recipe for Stoa {
    fn serve(&self, dir: &Path) -> Result<Command> {
        let mut command = self.command(&["mount", "--foreground"])?;
        command.arg(dir);
        Ok(command)
    }

    fn shows_objects(&self) -> bool {
        self.what == What::Objects
    }

    /// Asks as `stoa umount` does before it unmounts. sync(2) does not reach FUSE servers, so there is no call for it.
    fn make_durable(&self, mount: &dyn Mounted) -> Result<()> {
        let pid = mount.pids().first().copied().context("no mount")?;
        let mut socket = UnixStream::connect(self.runtime_dir.join(format!("{pid}.sock")))?;
        socket.write_all(b"{\"op\":\"sync\"}\n")?;
        for line in BufReader::new(socket).lines() {
            let line = line?;
            if line.starts_with("{\"done\"") {
                return Ok(());
            } else if line.starts_with("{\"failed\"") {
                bail!("stoa could not make everything durable: {line}");
            }
        }
        None.context("stoa ended before it had made everything durable")
    }
}
