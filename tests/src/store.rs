//! The object stores that volumes are tested in.

mod certificates;
mod minio;
mod program;
mod s3s;
mod versitygw;

use crate::{Watch, command, tools};
use anyhow::{Context, Result, bail};
use minio::Minio;
use s3s::S3s;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use versitygw::Versitygw;

const BUCKET: &str = "volumes";

/// What kind of store a test wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreKind {
    /// A local directory.
    Directory,
    /// An S3 server in this process, which can be made to fail.
    S3s,
    /// An S3 server that keeps objects in a directory: versitygw.
    Versitygw,
    /// An S3 server that keeps versions with their times, and takes conditions on copies: `MinIO`.
    Minio,
    /// The same over TLS, as it wants it for keys of its users (SSE-C), with a certificate of an authority of its own.
    MinioTls,
}

impl StoreKind {
    /// A real S3 server if one is installed, else the one in this process.
    #[must_use]
    pub fn s3() -> Self {
        if tools::installed("versitygw").is_some() { Self::Versitygw } else { Self::S3s }
    }

    /// Every S3 server there is here: the one in this process, and those that are installed.
    pub fn s3_servers() -> impl Iterator<Item = Self> {
        let installed = [(Self::Versitygw, "versitygw"), (Self::Minio, "minio")];
        let installed = installed.into_iter().filter(|(_, name)| tools::installed(name).is_some());
        std::iter::once(Self::S3s).chain(installed.map(|(kind, _)| kind))
    }

    /// What `STOA_SUITE_STORE` says, else `self`.
    fn chosen(self) -> Result<Self> {
        match std::env::var("STOA_SUITE_STORE").as_deref() {
            Err(_) => Ok(self),
            Ok("directory") => Ok(Self::Directory),
            Ok("s3s") => Ok(Self::S3s),
            Ok("versitygw") => Ok(Self::Versitygw),
            Ok("minio") => Ok(Self::Minio),
            Ok("minio-tls") => Ok(Self::MinioTls),
            Ok(other) => bail!("STOA_SUITE_STORE={other}: directory, s3s, versitygw, minio or minio-tls"),
        }
    }
}

/// An object store with room for one volume.
#[derive(Debug)]
pub struct TestStore {
    url: OsString,
    server: Server,
    /// As whom it is mounted, if not as its owner.
    user: Option<Access>,
}

#[derive(Debug)]
enum Server {
    None { objects: PathBuf },
    S3s(S3s),
    Versitygw { server: Versitygw, objects: PathBuf },
    Minio(Minio),
}

impl TestStore {
    /// Makes an empty store below `scratch`.
    ///
    /// # Errors
    /// If a server can't be started.
    pub fn start(kind: StoreKind, scratch: &Path, watch: &Watch) -> Result<Self> {
        let kind = kind.chosen()?;
        let root = scratch.join("store");
        std::fs::create_dir_all(&root)?;
        let server = match kind {
            StoreKind::Directory => Server::None { objects: root.clone() },
            StoreKind::S3s => Server::S3s(S3s::start(BUCKET)?),
            StoreKind::Versitygw => {
                let bucket = root.join(BUCKET);
                std::fs::create_dir_all(&bucket)?;
                Server::Versitygw { server: Versitygw::start(&root, scratch, watch)?, objects: bucket.join("volume") }
            }
            StoreKind::Minio => Server::Minio(Minio::start(&root, scratch, watch, BUCKET)?),
            StoreKind::MinioTls => Server::Minio(Minio::start_tls(&root, scratch, watch, BUCKET)?),
        };
        let url = match kind {
            StoreKind::Directory => root.into(),
            _ => format!("s3://{BUCKET}/volume").into(),
        };
        used(kind)?;
        Ok(Self { url, server, user: None })
    }

    /// What to call it on the command line.
    #[must_use]
    pub fn url(&self) -> &OsString {
        &self.url
    }

    /// The flags and variables that `stoa` needs to reach it.
    #[must_use]
    pub fn access(&self) -> Access {
        self.user.clone().unwrap_or_else(|| self.owner())
    }

    /// As [`TestStore::access`], as its owner.
    fn owner(&self) -> Access {
        match &self.server {
            Server::None { .. } => Access::default(),
            Server::S3s(server) => server.access(),
            Server::Versitygw { server, .. } => server.access(),
            Server::Minio(server) => server.access(),
        }
    }

    /// From now on it is used by somebody who may do nothing but `actions`, such as `s3:GetObject`.
    ///
    /// # Errors
    /// If it is no server with users and policies.
    pub fn restrict(&mut self, actions: &[&str]) -> Result<()> {
        let Server::Versitygw { server, .. } = &self.server else { bail!("this store has no users") };
        self.user = Some(server.add_user(BUCKET, actions)?);
        Ok(())
    }

    /// From now on it is used by somebody without credentials, as anybody may do `actions`.
    ///
    /// # Errors
    /// If it is no server with policies.
    pub fn publish(&mut self, actions: &[&str]) -> Result<()> {
        self.user = Some(match &self.server {
            Server::Versitygw { server, .. } => server.open_to_all(BUCKET, actions)?,
            Server::Minio(server) => server.open_to_all(BUCKET, actions)?,
            Server::None { .. } | Server::S3s(_) => bail!("this store has no policies"),
        });
        Ok(())
    }

    /// From now on it is used by somebody to whom an environment variable names its authority, instead of a flag, or nothing does.
    ///
    /// # Errors
    /// If it does not speak TLS.
    pub fn trust_by(&mut self, variable: Option<&'static str>) -> Result<()> {
        let access = self.owner();
        let authority = access.ca_file().context("this store does not speak TLS")?.to_string_lossy().into_owned();
        let mut access = access.distrusting();
        access.env.extend(variable.map(|name| (name, authority)));
        self.user = Some(access);
        Ok(())
    }

    /// Every object of the volume whose key starts with `prefix`, as files to look at or damage.
    ///
    /// # Errors
    /// If they can't be listed.
    pub fn objects(&self, prefix: &str) -> Result<Vec<PathBuf>> {
        let (Server::None { objects } | Server::Versitygw { objects, .. }) = &self.server else {
            bail!("the objects of this S3 server can't be reached as files");
        };
        let mut found = Vec::new();
        let first = objects.join(prefix);
        if !first.exists() {
            return Ok(found);
        }
        let mut ahead = vec![first];
        while let Some(dir) = ahead.pop() {
            for entry in std::fs::read_dir(&dir).with_context(|| dir.display().to_string())? {
                let entry = entry?;
                if entry.file_type()?.is_dir() { ahead.push(entry.path()) } else { found.push(entry.path()) }
            }
        }
        found.sort();
        Ok(found)
    }

    /// Has the bucket keep versions from now on.
    ///
    /// # Errors
    /// If it is a directory, or the server does not start again.
    pub fn keep_versions(&mut self) -> Result<()> {
        match &mut self.server {
            Server::None { .. } => bail!("a directory keeps no versions"),
            Server::S3s(server) => server.keep_versions(BUCKET),
            Server::Versitygw { server, objects } => {
                let bucket = objects.parent().context("no bucket")?;
                let versions = bucket.parent().context("no root")?.with_file_name("versions");
                server.keep_versions(bucket, &versions)?;
            }
            Server::Minio(server) => server.keep_versions(BUCKET)?,
        }
        Ok(())
    }

    /// Takes the store away: no request is answered until [`TestStore::resume`].
    ///
    /// # Errors
    /// If it is a directory: that can't go away while it is open.
    pub fn stop(&mut self) -> Result<()> {
        match &mut self.server {
            Server::None { .. } => bail!("an outage needs an S3 server"),
            Server::S3s(server) => server.stop(),
            Server::Versitygw { server, .. } => server.stop()?,
            Server::Minio(server) => server.stop()?,
        }
        Ok(())
    }

    /// Brings it back, at the same address.
    ///
    /// # Errors
    /// If it does not start.
    pub fn resume(&mut self) -> Result<()> {
        match &mut self.server {
            Server::None { .. } => {}
            Server::S3s(server) => server.resume(),
            Server::Versitygw { server, .. } => server.resume()?,
            Server::Minio(server) => server.resume()?,
        }
        Ok(())
    }

    /// Has every PUT below `folder` (`data`, `meta`) refused as if its writer had lost the right to (403), until
    /// [`TestStore::accept`].
    ///
    /// # Errors
    /// If it is not the server in this process.
    pub fn refuse(&self, folder: &str) -> Result<()> {
        self.in_process()?.refuse(folder);
        Ok(())
    }

    /// Has the connection of every PUT below `folder` closed before it takes effect, until [`TestStore::accept`].
    ///
    /// # Errors
    /// If it is not the server in this process.
    pub fn lose(&self, folder: &str) -> Result<()> {
        self.in_process()?.lose(folder);
        Ok(())
    }

    /// Has every request refused (403) that does not say that the requester pays, from now on or no more.
    ///
    /// # Errors
    /// If it is not the server in this process.
    pub fn toll(&self, demanded: bool) -> Result<()> {
        self.in_process()?.toll(demanded);
        Ok(())
    }

    /// Takes every PUT again.
    ///
    /// # Errors
    /// If it is not the server in this process.
    pub fn accept(&self) -> Result<()> {
        self.in_process()?.accept();
        Ok(())
    }

    /// How many requests have come in.
    ///
    /// # Errors
    /// If it is not the server in this process.
    pub fn requests(&self) -> Result<u64> {
        Ok(self.in_process()?.requests())
    }

    fn in_process(&self) -> Result<&S3s> {
        match &self.server {
            Server::S3s(server) => Ok(server),
            _ => bail!("this test needs the S3 server in this process: unset STOA_SUITE_STORE"),
        }
    }

    /// Has some of the next requests fail in every way there is: refused, lost before or after they took effect, cut,
    /// late, or answered 200 with an error. Only a server in this process can.
    pub fn trouble(&self, seed: u64, requests: u32) {
        if let Server::S3s(server) = &self.server {
            server.trouble(seed, requests);
        }
    }
}

/// How to reach a store.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// Flags.
    pub args: Vec<OsString>,
    /// Environment variables.
    pub env: Vec<(&'static str, String)>,
}

impl Access {
    /// The server's address, if it has one.
    #[must_use]
    pub fn endpoint(&self) -> Option<String> {
        self.value("--endpoint")?.to_str().map(str::to_owned)
    }

    /// The file with the authority that certifies the server, if a flag names it.
    #[must_use]
    pub fn ca_file(&self) -> Option<PathBuf> {
        self.value("--ca-file").map(PathBuf::from)
    }

    fn value(&self, flag: &str) -> Option<&OsString> {
        let at = self.args.iter().position(|arg| arg == flag)?;
        self.args.get(at + 1)
    }

    /// The same server, without a word of its authority.
    fn distrusting(mut self) -> Self {
        if let Some(at) = self.args.iter().position(|arg| arg == "--ca-file") {
            self.args.drain(at..at + 2);
        }
        self
    }

    /// The value of an environment variable.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.env.iter().find(|(it, _)| *it == name).map(|(_, value)| value.as_str())
    }

    /// The same server, without credentials.
    fn anonymous(mut self) -> Self {
        self.env.clear();
        self.args.push("--anonymous".into());
        self
    }

    fn trusting(mut self, authority: &Path) -> Self {
        self.args.extend(["--ca-file".into(), authority.into()]);
        self
    }

    fn s3(endpoint: &str, access_key: &str, secret_key: &str) -> Self {
        Self {
            args: ["--endpoint", endpoint, "--region", "us-east-1", "--path-style"].map(OsString::from).to_vec(),
            env: vec![("AWS_ACCESS_KEY_ID", access_key.to_owned()), ("AWS_SECRET_ACCESS_KEY", secret_key.to_owned())],
        }
    }
}

/// Leaves word of the store for the summary of the run.
fn used(kind: StoreKind) -> Result<()> {
    let name = match kind {
        StoreKind::Directory => "a local directory",
        StoreKind::S3s => "s3s in the test process (S3 over HTTP)",
        StoreKind::Versitygw => "versitygw (S3 over HTTP)",
        StoreKind::Minio => "MinIO (S3 over HTTP)",
        StoreKind::MinioTls => "MinIO (S3 over HTTPS)",
    };
    command::leave_word("STOA_SUITE_STORES_USED", name)
}
