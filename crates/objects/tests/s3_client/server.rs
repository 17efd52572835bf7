//! The servers, and what they can do.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use stoa_objects::ConnectOptions;
use stoa_objects::RetryPolicy;
use stoa_objects::s3::S3Bucket;
use stoa_objects::testing::{S3Server, s3_bucket};

/// What a server can do, where they differ.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Can {
    /// Keys that are no paths of files: `a//b`, `..`, a trailing `/` with data, `a` beside `a/b`.
    pub(crate) odd_keys: bool,
    /// Keys with control characters, in listings.
    pub(crate) control_keys: bool,
    /// Small pages of versions.
    pub(crate) version_pages: bool,
    /// Conditions on the target of a copy.
    pub(crate) copy_if: bool,
    /// Conditions on a delete.
    pub(crate) delete_if: bool,
    /// Conditions on a completion.
    pub(crate) complete_if: bool,
    /// Storage classes other than the standard one.
    pub(crate) classes: bool,
    /// Whether the bucket keeps versions.
    pub(crate) versions: bool,
}

pub(crate) struct Server {
    pub(crate) bucket: S3Bucket,
    pub(crate) can: Can,
    options: ConnectOptions,
    keys: (String, String),
    /// Kept alive, and for its faults.
    pub(crate) here: Option<S3Server>,
}

fn options(endpoint: &str) -> ConnectOptions {
    let retry = RetryPolicy { delay_min: Duration::from_millis(5), ..RetryPolicy::bounded(Duration::from_secs(30)) };
    ConnectOptions { endpoint: Some(endpoint.to_owned()), retry, ..ConnectOptions::default() }
}

impl Server {
    fn new(endpoint: &str, keys: (&str, &str), can: Can, here: Option<S3Server>) -> Self {
        let options = options(endpoint);
        let bucket = s3_bucket("bucket", &options, keys.0, keys.1, None).unwrap();
        Self { bucket, can, options, keys: (keys.0.to_owned(), keys.1.to_owned()), here }
    }

    pub(crate) async fn in_process() -> Self {
        let here = S3Server::start("bucket").await.unwrap();
        let can = Can {
            odd_keys: true,
            control_keys: true,
            version_pages: true,
            copy_if: true,
            delete_if: true,
            complete_if: true,
            classes: true,
            versions: false,
        };
        let (endpoint, keys) = (here.endpoint.clone(), (here.access_key.clone(), here.secret_key.clone()));
        Self::new(&endpoint, (&keys.0, &keys.1), can, Some(here))
    }

    pub(crate) async fn in_process_with_versions() -> Self {
        let mut server = Self::in_process().await;
        server.here.as_ref().unwrap().keep_versions("bucket");
        server.can.versions = true;
        server
    }

    /// A client with other options or another bucket.
    pub(crate) fn other(&self, bucket: &str, change: impl FnOnce(&mut ConnectOptions)) -> S3Bucket {
        self.other_as(bucket, &self.keys.1, change)
    }

    /// A client with another secret key.
    pub(crate) fn other_as(&self, bucket: &str, secret: &str, change: impl FnOnce(&mut ConnectOptions)) -> S3Bucket {
        let mut options = self.options.clone();
        change(&mut options);
        s3_bucket(bucket, &options, &self.keys.0, secret, None).unwrap()
    }
}

const KEYS: (&str, &str) = ("stoa-tests", "no-secret-at-all");

/// A running versitygw, over a directory of its own.
pub(crate) struct Versitygw {
    process: Child,
    endpoint: String,
    versions: bool,
    root: tempfile::TempDir,
}

impl Versitygw {
    /// Starts it, if it is installed; says so if it is not.
    pub(crate) fn start(versions: bool) -> Option<Self> {
        let program = program();
        if !program.exists() {
            eprintln!("versitygw is not installed (cargo xtask setup): only the server in this process was asked");
            return None;
        }
        let root = tempfile::tempdir().unwrap();
        let (data, old) = (root.path().join("data"), root.path().join("versions"));
        std::fs::create_dir_all(data.join("bucket")).unwrap();
        std::fs::create_dir_all(&old).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(program);
        command.args(["--access", KEYS.0, "--secret", KEYS.1, "--region", "us-east-1", "--quiet"]);
        command.args(["--port", &format!("127.0.0.1:{port}"), "posix"]);
        if versions {
            command.arg("--versioning-dir").arg(&old);
        }
        command.arg(&data).stdout(Stdio::null()).stderr(Stdio::null());
        let mut running =
            Self { process: command.spawn().unwrap(), endpoint: format!("http://127.0.0.1:{port}"), versions, root };
        running.wait(port);
        Some(running)
    }

    fn wait(&mut self, port: u16) {
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(self.process.try_wait().unwrap().is_none(), "versitygw ended");
            assert!(began.elapsed() < Duration::from_secs(20), "versitygw does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) async fn server(&self) -> Server {
        let can = Can {
            // Keys are paths of files here.
            odd_keys: false,
            // It does not encode keys in listings, and XML has no words for these: it says U+FFFD instead.
            control_keys: false,
            // After a delete marker it gives the same one again, for ever.
            version_pages: false,
            // It looks at those of the source only, and copies.
            copy_if: false,
            delete_if: true,
            complete_if: true,
            // It takes none but the standard one.
            classes: false,
            versions: self.versions,
        };
        Server::new(&self.endpoint, KEYS, can, None)
    }

    /// Has the bucket keep versions, by the mark that the server itself sets: the client has no such request, as
    /// buckets are made ready by those who own them.
    pub(crate) fn keep_versions(&self) {
        let bucket = self.root.path().join("data/bucket");
        rustix::fs::setxattr(&bucket, "user.versioning", &[1], rustix::fs::XattrFlags::empty()).unwrap();
    }
}

impl Drop for Versitygw {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn program() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"));
    target.join("tools/bin/versitygw")
}
