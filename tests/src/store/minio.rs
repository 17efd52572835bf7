//! MinIO: an S3 server that keeps versions with their times, and takes conditions on copies.

use super::Access;
use super::certificates::Certificates;
use super::program::{ACCESS_KEY, LIMIT, Program, SECRET_KEY};
use crate::{Watch, command, tools};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One over a directory, in a format of its own.
#[derive(Debug)]
pub(super) struct Minio {
    program: Program,
    root: PathBuf,
    /// If it speaks TLS, and nothing else.
    certificates: Option<Certificates>,
}

impl Minio {
    /// Starts it over `root`, and makes a bucket.
    pub(super) fn start(root: &Path, scratch: &Path, watch: &Watch, bucket: &str) -> Result<Self> {
        Self::run(Program::new("minio", scratch, watch)?, None, root, bucket)
    }

    /// As [`Minio::start`], over TLS, with a certificate of its own authority.
    pub(super) fn start_tls(root: &Path, scratch: &Path, watch: &Watch, bucket: &str) -> Result<Self> {
        let certificates = Certificates::make(&scratch.join("certificates"))?;
        let program = Program::new("minio", scratch, watch)?.over_tls(certificates.authority());
        Self::run(program, Some(certificates), root, bucket)
    }

    fn run(program: Program, certificates: Option<Certificates>, root: &Path, bucket: &str) -> Result<Self> {
        let mut server = Self { program, root: root.to_owned(), certificates };
        server.resume()?;
        server.program.put(bucket, "")?;
        Ok(server)
    }

    pub(super) fn access(&self) -> Access {
        self.program.access()
    }

    /// Lets anybody do `actions`, and nothing else, with a bucket and the objects in it, without credentials.
    pub(super) fn open_to_all(&self, bucket: &str, actions: &[&str]) -> Result<Access> {
        self.program.set_policy(bucket, &serde_json::json!("*"), actions)?;
        Ok(self.access().anonymous())
    }

    /// Has a bucket keep versions from now on.
    pub(super) fn keep_versions(&self, bucket: &str) -> Result<()> {
        let enabled = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
        self.program.put(&format!("{bucket}?versioning="), enabled)
    }

    /// Kills it.
    pub(super) fn stop(&mut self) -> Result<()> {
        self.program.stop()
    }

    /// Starts it, if it does not run, and waits until it answers.
    pub(super) fn resume(&mut self) -> Result<()> {
        let mut command = Command::new(tools::tool("minio")?);
        command.env("MINIO_ROOT_USER", ACCESS_KEY).env("MINIO_ROOT_PASSWORD", SECRET_KEY);
        // It would look for newer ones of itself, and refuses the disk that the system is on.
        command.env("MINIO_UPDATE", "off").env("MINIO_BROWSER", "off").env("MINIO_CI_CD", "1").env("HOME", &self.root);
        command.args(["server", "--quiet", "--address", &self.program.address()]);
        if let Some(certificates) = &self.certificates {
            command.arg("--certs-dir").arg(certificates.dir());
        }
        self.program.start(command.arg(self.root.join("minio")))?;
        // It answers before it can do anything.
        let health = format!("{}/minio/health/cluster", self.program.endpoint());
        command::until("MinIO is ready", LIMIT, || {
            Ok(self.program.curl().args(["--output", "/dev/null", "--fail", &health]).status()?.success())
        })
    }
}
