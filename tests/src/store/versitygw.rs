//! versitygw: an S3 server over a directory.

use super::Access;
use super::program::{ACCESS_KEY, LIMIT, Program, SECRET_KEY};
use crate::{Watch, command, tools};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A user beside the owner, who may do only what a test says.
const USER_KEY: &str = "stoa-restricted";

/// One over a directory.
#[derive(Debug)]
pub(super) struct Versitygw {
    program: Program,
    root: PathBuf,
    /// Where it keeps its other users.
    users: PathBuf,
    /// Where it keeps versions, if it does.
    versions: Option<PathBuf>,
}

impl Versitygw {
    /// Starts it over `root`, whose subdirectories are the buckets.
    pub(super) fn start(root: &Path, scratch: &Path, watch: &Watch) -> Result<Self> {
        let users = scratch.join("users");
        std::fs::create_dir_all(&users)?;
        let program = Program::new("versitygw", scratch, watch)?;
        let mut server = Self { program, root: root.to_owned(), users, versions: None };
        server.resume()?;
        Ok(server)
    }

    pub(super) fn access(&self) -> Access {
        self.program.access()
    }

    /// Adds a user who may do nothing but `actions`, which begin with `s3:`, with a bucket and the objects in it.
    pub(super) fn add_user(&self, bucket: &str, actions: &[&str]) -> Result<Access> {
        let endpoint = self.program.endpoint();
        let admin = ["admin", "--access", ACCESS_KEY, "--secret", SECRET_KEY, "--endpoint-url", &endpoint];
        let create = ["create-user", "--access", USER_KEY, "--secret", SECRET_KEY, "--role", "user"];
        let mut versitygw = Command::new(tools::tool("versitygw")?);
        command::run(versitygw.args(admin).args(create).env("NO_PROXY", "127.0.0.1"), LIMIT)?;
        self.program.set_policy(bucket, &serde_json::json!({ "AWS": [USER_KEY] }), actions)?;
        Ok(Access::s3(&endpoint, USER_KEY, SECRET_KEY))
    }

    /// Lets anybody do `actions`, and nothing else, with a bucket and the objects in it, without credentials.
    pub(super) fn open_to_all(&self, bucket: &str, actions: &[&str]) -> Result<Access> {
        self.program.set_policy(bucket, &serde_json::json!("*"), actions)?;
        Ok(self.access().anonymous())
    }

    /// Has the bucket in the directory `bucket` keep versions from now on, in `versions`: by the mark that the server itself sets.
    pub(super) fn keep_versions(&mut self, bucket: &Path, versions: &Path) -> Result<()> {
        self.stop()?;
        std::fs::create_dir_all(versions)?;
        rustix::fs::setxattr(bucket, "user.versioning", &[1], rustix::fs::XattrFlags::empty())?;
        self.versions = Some(versions.to_owned());
        self.resume()
    }

    /// Kills it.
    pub(super) fn stop(&mut self) -> Result<()> {
        self.program.stop()
    }

    /// Starts it, if it does not run, and waits until it answers.
    pub(super) fn resume(&mut self) -> Result<()> {
        let mut command = Command::new(tools::tool("versitygw")?);
        command.args(["--access", ACCESS_KEY, "--secret", SECRET_KEY, "--region", "us-east-1", "--quiet"]);
        command.args(["--port", &self.program.address(), "--iam-dir"]).arg(&self.users).arg("posix");
        if let Some(versions) = &self.versions {
            command.arg("--versioning-dir").arg(versions);
        }
        self.program.start(command.arg(&self.root))
    }
}
