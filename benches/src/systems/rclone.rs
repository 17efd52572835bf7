//! rclone mount, with the settings that its manual has for programs that expect a disk.

use super::{Recipe, empty, write_back};
use crate::mount::Mount;
use crate::server::program;
use crate::store::{BUCKET, REGION, Store};
use anyhow::{Context, Result};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

/// How often rclone is asked whether it has uploaded everything.
const POLL_EVERY: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(super) struct Rclone {
    cache: PathBuf,
    control: SocketAddr,
    variables: Vec<(&'static str, String)>,
}

impl Rclone {
    pub(super) fn new(store: &Store, scratch: &Path) -> Result<Self> {
        let cache = scratch.join("rclone-cache");
        empty(&cache)?;
        let control = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let variables = vec![
            ("RCLONE_CONFIG", "/dev/null".to_owned()),
            ("RCLONE_S3_PROVIDER", "Other".to_owned()),
            ("RCLONE_S3_ENDPOINT", store.endpoint().to_owned()),
            ("RCLONE_S3_REGION", REGION.to_owned()),
            ("RCLONE_S3_ACCESS_KEY_ID", store.access_key().to_owned()),
            ("RCLONE_S3_SECRET_ACCESS_KEY", store.secret_key().to_owned()),
        ];
        Ok(Self { cache, control, variables })
    }

    /// Whether closed files are still to be uploaded.
    fn is_uploading(&self) -> Result<bool> {
        let mut stream = TcpStream::connect(self.control)?;
        let head = "POST /vfs/stats HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        stream.write_all(head.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (_, body) = answer.split_once("\r\n\r\n").context("an answer of rclone without a body")?;
        let stats: serde_json::Value = serde_json::from_str(body)?;
        let count = |name: &str| stats.pointer(&format!("/diskCache/{name}")).and_then(serde_json::Value::as_u64);
        let left = count("uploadsInProgress").zip(count("uploadsQueued")).context("rclone says nothing of uploads")?;
        Ok(left != (0, 0))
    }
}

impl Recipe for Rclone {
    fn serve(&self, dir: &Path) -> Result<Command> {
        let mut command = program("rclone");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.args(["mount", &format!(":s3:{BUCKET}")]).arg(dir);
        // Files that are written are kept on disk whole, and uploaded as soon as they are closed, 8 at once, in parts of
        // 16 MiB: as Stoa's segments.
        command.args(["--vfs-cache-mode", "writes", "--vfs-write-back", "0s", "--transfers", "8"]);
        command.args(["--s3-chunk-size", "16M", "--s3-upload-cutoff", "16M", "--s3-upload-concurrency", "8"]);
        // Nobody else writes: names and attributes stay valid, and need no request of their own for each file.
        command.args(["--dir-cache-time", "1h", "--attr-timeout", "1h", "--poll-interval", "0"]);
        command.args(["--use-server-modtime", "--s3-no-check-bucket", "--s3-no-head"]);
        command.args(["--buffer-size", "32M", "--rc", "--rc-no-auth", "--rc-addr", &self.control.to_string()]);
        command.arg("--cache-dir").arg(&self.cache);
        Ok(command)
    }

    fn make_durable(&self, mount: &Mount) -> Result<()> {
        write_back(mount.dir())?;
        while self.is_uploading()? {
            thread::sleep(POLL_EVERY);
        }
        Ok(())
    }

    /// It only begins to upload a file once that is closed.
    fn keeps_fsync(&self) -> bool {
        false
    }

    fn shows_objects(&self) -> bool {
        true
    }

    fn forget(&self) -> Result<()> {
        empty(&self.cache)
    }
}
