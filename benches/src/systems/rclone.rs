//! rclone mount, with the settings that its manual has for programs that expect a disk.

use super::{Recipe, empty, write_back};
use crate::mount::Mounted;
use crate::server::program;
use crate::store::{BUCKET, REGION, Store};
use anyhow::{Context, Result};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{fs, io, thread};

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

    /// Whether something is still to be uploaded. rclone only counts files from when the kernel has told it that they are
    /// closed, which comes some time after close(2): until then what it notes on disk about each file says so.
    fn is_dirty(&self) -> Result<bool> {
        Ok(self.is_uploading()? || notes_dirt(&self.cache.join("vfsMeta"))?)
    }

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
        // rclone has a transport of its own, and refuses to start with this.
        command.env_remove("AWS_CA_BUNDLE");
        command.args(["mount", &format!(":s3:{BUCKET}")]).arg(dir);
        // Files that are written are kept on disk whole, and uploaded soon after they are closed, 8 at once, in parts of
        // 16 MiB: as Stoa's segments. With no delay at all, close would upload, and what failed once is not tried again.
        command.args(["--vfs-cache-mode", "writes", "--vfs-write-back", "10ms", "--transfers", "8"]);
        command.args(["--s3-chunk-size", "16M", "--s3-upload-cutoff", "16M", "--s3-upload-concurrency", "8"]);
        // Nobody else writes: names and attributes stay valid, and need no request of their own for each file.
        command.args(["--dir-cache-time", "1h", "--attr-timeout", "1h", "--poll-interval", "0"]);
        // So that programs can be run.
        command.args(["--file-perms", "0777"]);
        command.args(["--use-server-modtime", "--s3-no-check-bucket"]);
        command.args(["--buffer-size", "32M", "--rc", "--rc-no-auth", "--rc-addr", &self.control.to_string()]);
        command.arg("--cache-dir").arg(&self.cache);
        Ok(command)
    }

    fn make_durable(&self, mount: &dyn Mounted) -> Result<()> {
        write_back(mount.dir())?;
        while self.is_dirty()? {
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

/// Whether one of rclone's notes below `dir` is of a file that has changed.
fn notes_dirt(dir: &Path) -> Result<bool> {
    let Some(entries) = if_there(fs::read_dir(dir))? else { return Ok(false) };
    for entry in entries {
        let entry = entry?;
        let dirty = if entry.file_type()?.is_dir() {
            notes_dirt(&entry.path())?
        } else {
            // Half a note, read while it is written, says neither.
            let note = if_there(fs::read_to_string(entry.path()))?;
            note.is_some_and(|note| !note.contains("\"Dirty\": false"))
        };
        if dirty {
            return Ok(true);
        }
    }
    Ok(false)
}

/// None for what is not there: a note may come and go at any moment.
fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}
