//! An S3 server that is a program of its own.

use super::Access;
use crate::mount::dies_with_us;
use crate::{Watch, command};
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

/// The user of the servers that tests start.
pub(super) const ACCESS_KEY: &str = "stoa-tests";
pub(super) const SECRET_KEY: &str = "no-secret-at-all";

pub(super) const LIMIT: Duration = Duration::from_secs(30);

/// A running server, or one that was stopped and can be started again on the same port.
#[derive(Debug)]
pub(super) struct Program {
    name: &'static str,
    port: u16,
    log: PathBuf,
    process: Option<Child>,
    watch: Watch,
    /// The file with the authority that certifies it, if it speaks TLS.
    authority: Option<PathBuf>,
}

impl Program {
    /// One that does not run yet; its log goes to `scratch`.
    pub(super) fn new(name: &'static str, scratch: &Path, watch: &Watch) -> Result<Self> {
        // The port is free now, and the server must have the same one after an outage.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = scratch.join(format!("{name}.log"));
        Ok(Self { name, port, log, process: None, watch: watch.clone(), authority: None })
    }

    /// The same over TLS, with a certificate of the authority in this file.
    pub(super) fn over_tls(mut self, authority: PathBuf) -> Self {
        self.authority = Some(authority);
        self
    }

    pub(super) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(super) fn endpoint(&self) -> String {
        let scheme = if self.authority.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address())
    }

    /// How its owner reaches it.
    pub(super) fn access(&self) -> Access {
        let access = Access::s3(&self.endpoint(), ACCESS_KEY, SECRET_KEY);
        match &self.authority {
            Some(file) => access.trusting(file),
            None => access,
        }
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

    /// Starts it by `command`, if it does not run, and waits until it answers.
    pub(super) fn start(&mut self, command: &mut Command) -> Result<()> {
        if self.process.is_some() {
            return Ok(());
        }
        let log = File::options().create(true).append(true).open(&self.log)?;
        command.stdout(log.try_clone()?).stderr(log);
        let process = dies_with_us(command).spawn().with_context(|| format!("starting {}", self.name))?;
        self.watch.add(process.id());
        let process = self.process.insert(process);
        let (name, port, log) = (self.name, self.port, &self.log);
        command::until(&format!("{name} answers"), LIMIT, || {
            if let Some(status) = process.try_wait()? {
                bail!("{name} ended: {status}\n{}", std::fs::read_to_string(log)?);
            }
            Ok(TcpStream::connect(("127.0.0.1", port)).is_ok())
        })
    }

    /// curl, which goes to the server by no proxy, and trusts it.
    pub(super) fn curl(&self) -> Command {
        let mut curl = command::program("curl");
        curl.args(["--silent", "--noproxy", "*"]);
        if let Some(file) = &self.authority {
            curl.arg("--cacert").arg(file);
        }
        curl
    }

    /// Sends it a PUT of `body` as its owner, for what the client in Stoa has no need of.
    pub(super) fn put(&self, path: &str, body: &str) -> Result<()> {
        let mut curl = self.curl();
        curl.args(["--show-error", "--fail-with-body"]);
        curl.args(["--aws-sigv4", "aws:amz:us-east-1:s3", "--user", &format!("{ACCESS_KEY}:{SECRET_KEY}")]);
        curl.args(["--header", "x-amz-content-sha256: UNSIGNED-PAYLOAD", "--request", "PUT", "--data-binary", body]);
        command::run(curl.arg(format!("{}/{path}", self.endpoint())), LIMIT).map(drop)
    }

    /// Sets the policy of a bucket.
    pub(super) fn set_policy(&self, bucket: &str, principal: &serde_json::Value, actions: &[&str]) -> Result<()> {
        let mut statements = Vec::new();
        for action in actions {
            // Each kind of action is about one kind of thing.
            let below = if action.contains("Bucket") && !action.contains("Multipart") { "" } else { "/*" };
            statements.push(serde_json::json!({
                "Effect": "Allow", "Principal": principal, "Action": action,
                "Resource": format!("arn:aws:s3:::{bucket}{below}"),
            }));
        }
        let policy = serde_json::json!({ "Version": "2012-10-17", "Statement": statements });
        self.put(&format!("{bucket}?policy="), &policy.to_string())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Nothing is to be done about a server that can't be killed.
        let _ = self.stop();
    }
}
