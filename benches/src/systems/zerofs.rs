//! ZeroFS, as a block device with ext4 on it.
//!
//! Its other ways need an NFS, 9P or NBD client in the kernel. nbdfuse shows the device as a file instead, which a loop device
//! takes.

mod ninep;

use super::{Recipe, empty};
use crate::guard;
use crate::mount::{Mount, Mounted, let_go};
use crate::server::{Server, program};
use crate::store::{BUCKET, REGION, Store};
use anyhow::{Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stoa_tests::command::{self, run, until};
use stoa_tests::tools;

const DEVICE: &str = "disk";
const DEVICE_BYTES: u64 = 16 << 30;
const START_LIMIT: Duration = Duration::from_secs(60);
const PROGRAM_LIMIT: Duration = Duration::from_secs(60);
/// It flushes and compacts before it ends.
const END_LIMIT: Duration = Duration::from_secs(120);

#[derive(Debug)]
pub(super) struct Zerofs {
    scratch: PathBuf,
    formatted: AtomicBool,
}

impl Zerofs {
    pub(super) fn new(store: &Store, scratch: &Path) -> Result<Self> {
        let scratch = scratch.join("zerofs");
        fs::create_dir(&scratch)?;
        let zerofs = Self { scratch, formatted: AtomicBool::new(false) };
        empty(&zerofs.path("cache"))?;
        fs::write(zerofs.path("zerofs.toml"), zerofs.configuration(store))?;
        Ok(zerofs)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// As in its manual, with more memory for its cache than it takes unasked.
    fn configuration(&self, store: &Store) -> String {
        let path = |name| self.path(name).display().to_string();
        format!(
            "[cache]\ndir = {:?}\ndisk_size_gb = 10.0\nmemory_size_gb = 1.0\n\
             [storage]\nurl = \"s3://{BUCKET}/zerofs\"\nencryption_password = \"no secret at all\"\n\
             [servers.ninep]\nunix_socket = {:?}\n[servers.nbd]\nunix_socket = {:?}\n\
             [aws]\naccess_key_id = {:?}\nsecret_access_key = {:?}\nendpoint = {:?}\n\
             default_region = {REGION:?}\nallow_http = \"true\"\n",
            path("cache"),
            path("9p.sock"),
            path("nbd.sock"),
            store.access_key(),
            store.secret_key(),
            store.endpoint(),
        )
    }

    fn start(&self, log: &Path) -> Result<Server> {
        // Left over from the last mount: that they are there must mean that somebody listens.
        for socket in ["9p.sock", "nbd.sock"] {
            let _ = fs::remove_file(self.path(socket));
        }
        let mut command = program(tools::tool("zerofs")?);
        let mut server = Server::start(command.args(["run", "--config"]).arg(self.path("zerofs.toml")), log)?;
        until("ZeroFS listens", START_LIMIT, || {
            server.expect_alive()?;
            Ok(self.path("9p.sock").exists() && self.path("nbd.sock").exists())
        })?;
        Ok(server)
    }
}

impl Recipe for Zerofs {
    /// The file that is the device.
    fn serve(&self, dir: &Path) -> Result<Command> {
        let mut command = program("nbdfuse");
        command.args(["--connections", "4"]).arg(dir.join(DEVICE));
        command.arg(format!("nbd+unix:///{DEVICE}?socket={}", self.path("nbd.sock").display()));
        Ok(command)
    }

    fn mount(&self, dir: &Path, log: &Path) -> Result<Box<dyn Mounted>> {
        let server = self.start(log)?;
        let first = !self.formatted.swap(true, Ordering::Relaxed);
        if first {
            ninep::create_device(&self.path("9p.sock"), DEVICE, DEVICE_BYTES)?;
        }
        let below = self.path("device");
        fs::create_dir_all(&below)?;
        let device = Mount::start(&mut self.serve(&below)?, &below, log)?;
        let file = below.join(DEVICE);
        if first {
            run(command::program("mkfs.ext4").arg("-q").arg(&file), PROGRAM_LIMIT)?;
        }
        guard::add_mount(dir);
        let stack = Stack { dir: dir.to_owned(), device: Some(Box::new(device)), server };
        let mut losetup = command::program("losetup");
        let name = run(losetup.args(["--find", "--show", "--direct-io=on"]).arg(&file), PROGRAM_LIMIT)?;
        let mounted = run(command::program("mount").args(["-t", "ext4", name.trim()]).arg(dir), PROGRAM_LIMIT);
        // In use, it only goes with the mount: that way it can't be left over.
        run(command::program("losetup").args(["--detach", name.trim()]), PROGRAM_LIMIT)?;
        mounted?;
        Ok(Box::new(stack))
    }

    fn forget(&self) -> Result<()> {
        empty(&self.path("cache"))
    }
}

/// ext4 on the device, the process that shows that as a file, and ZeroFS.
struct Stack {
    dir: PathBuf,
    device: Option<Box<Mount>>,
    server: Server,
}

impl Mounted for Stack {
    fn dir(&self) -> &Path {
        &self.dir
    }

    fn pids(&self) -> Vec<u32> {
        let device = self.device.iter().flat_map(|device| device.pids());
        device.chain([self.server.pid()]).collect()
    }

    fn unmount(mut self: Box<Self>) -> Result<()> {
        let_go(&self.dir)?;
        if let Some(device) = self.device.take() {
            device.unmount()?;
        }
        if self.server.terminate(END_LIMIT)?.is_none() {
            bail!("ZeroFS did not end");
        }
        Ok(())
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        guard::detach(&self.dir);
        guard::remove_mount(&self.dir);
    }
}
