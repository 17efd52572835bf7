//! versitygw: an S3 server over a directory.

use super::Access;
use crate::mount::dies_with_us;
use crate::{Watch, command, tools};
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

/// The user of the servers that tests start.
const ACCESS_KEY: &str = "stoa-tests";
const SECRET_KEY: &str = "no-secret-at-all";
/// Another one, who may do only what a test says.
const USER_KEY: &str = "stoa-restricted";

const LIMIT: Duration = Duration::from_secs(20);

/// A running server, or one that was stopped and can be started again on the same port and directory.
#[derive(Debug)]
pub(super) struct Versitygw {
    root: PathBuf,
    /// Where it keeps its other users.
    users: PathBuf,
    log: PathBuf,
    port: u16,
    process: Option<Child>,
    /// Where it keeps versions, if it does.
    versions: Option<PathBuf>,
    watch: Watch,
}

impl Versitygw {
    /// Starts it over `root`, whose subdirectories are the buckets; its log goes to `scratch`.
    pub(super) fn start(root: &Path, scratch: &Path, watch: &Watch) -> Result<Self> {
        // The port is free now, and the server must have the same one after an outage.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = scratch.join("versitygw.log");
        let users = scratch.join("users");
        std::fs::create_dir_all(&users)?;
        let mut server =
            Self { root: root.to_owned(), users, log, port, process: None, versions: None, watch: watch.clone() };
        server.resume()?;
        Ok(server)
    }

    pub(super) fn access(&self) -> Access {
        Access::s3(&format!("http://127.0.0.1:{}", self.port), ACCESS_KEY, SECRET_KEY)
    }

    /// Adds a user who may do nothing but `actions`, which begin with `s3:`, with a bucket and the objects in it.
    pub(super) fn add_user(&self, bucket: &str, actions: &[&str]) -> Result<Access> {
        let endpoint = format!("http://127.0.0.1:{}", self.port);
        let admin = ["admin", "--access", ACCESS_KEY, "--secret", SECRET_KEY, "--endpoint-url", &endpoint];
        let create = ["create-user", "--access", USER_KEY, "--secret", SECRET_KEY, "--role", "user"];
        let mut versitygw = Command::new(tools::tool("versitygw")?);
        command::run(versitygw.args(admin).args(create).env("NO_PROXY", "127.0.0.1"), LIMIT)?;
        self.allow(bucket, &serde_json::json!({ "AWS": [USER_KEY] }), actions)?;
        Ok(Access::s3(&endpoint, USER_KEY, SECRET_KEY))
    }

    /// Lets anybody do `actions`, and nothing else, with a bucket and the objects in it, without credentials.
    pub(super) fn open_to_all(&self, bucket: &str, actions: &[&str]) -> Result<Access> {
        self.allow(bucket, &serde_json::json!("*"), actions)?;
        let mut access = self.access();
        access.env.clear();
        access.args.push("--anonymous".into());
        Ok(access)
    }

    fn allow(&self, bucket: &str, principal: &serde_json::Value, actions: &[&str]) -> Result<()> {
        let endpoint = format!("http://127.0.0.1:{}", self.port);
        let mut statements = Vec::new();
        for action in actions {
            // Each kind of action is about one kind of thing.
            let below = if action.contains("Bucket") && !action.contains("Multipart") { "" } else { "/*" };
            statements.push(serde_json::json!({
                "Effect": "Allow", "Principal": principal, "Action": action,
                "Resource": format!("arn:aws:s3:::{bucket}{below}"),
            }));
        }
        let policy = serde_json::json!({ "Version": "2012-10-17", "Statement": statements }).to_string();
        let owner = format!("{ACCESS_KEY}:{SECRET_KEY}");
        let mut curl = command::program("curl");
        curl.args([
            "--silent",
            "--show-error",
            "--fail-with-body",
            "--noproxy",
            "*",
            "--aws-sigv4",
            "aws:amz:us-east-1:s3",
        ]);
        curl.args(["--user", &owner, "--header", "x-amz-content-sha256: UNSIGNED-PAYLOAD"]);
        curl.args(["--request", "PUT", "--data-binary", &policy]).arg(format!("{endpoint}/{bucket}?policy="));
        command::run(&mut curl, LIMIT).map(drop)
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
        if let Some(mut process) = self.process.take() {
            process.kill()?;
            process.wait()?;
            self.watch.remove(process.id());
        }
        Ok(())
    }

    /// Starts it, if it does not run, and waits until it answers.
    pub(super) fn resume(&mut self) -> Result<()> {
        if self.process.is_some() {
            return Ok(());
        }
        let log = File::options().create(true).append(true).open(&self.log)?;
        let mut command = Command::new(tools::tool("versitygw")?);
        command.args([
            "--access",
            ACCESS_KEY,
            "--secret",
            SECRET_KEY,
            "--region",
            "us-east-1",
            "--quiet",
            "--port",
            &format!("127.0.0.1:{}", self.port),
            "--iam-dir",
        ]);
        command.arg(&self.users).arg("posix");
        if let Some(versions) = &self.versions {
            command.arg("--versioning-dir").arg(versions);
        }
        command.arg(&self.root).stdout(log.try_clone()?).stderr(log);
        let process = dies_with_us(&mut command).spawn().context("starting versitygw")?;
        self.watch.add(process.id());
        let process = self.process.insert(process);
        let (port, log) = (self.port, &self.log);
        command::until("versitygw answers", Duration::from_secs(20), || {
            if let Some(status) = process.try_wait()? {
                bail!("versitygw ended: {status}\n{}", std::fs::read_to_string(log)?);
            }
            Ok(TcpStream::connect(("127.0.0.1", port)).is_ok())
        })
    }
}

impl Drop for Versitygw {
    fn drop(&mut self) {
        // Nothing is to be done about a server that can't be killed.
        let _ = self.stop();
    }
}
