//! What is measured, and how each is set up.

mod floor;
mod raw;
mod rclone;
mod s3fs;
mod stoa;
mod zerofs;

pub(crate) use floor::serve as serve_floor;
pub(crate) use raw::{
    Answer as RawAnswer, Command as RawCommand, OBJECT_BYTES, Object, PARALLEL, PARALLEL_SMALL, Raw,
    work as raw_requests,
};

use crate::mount::{Mount, Mounted};
use crate::store::Store;
use anyhow::Result;
use clap::ValueEnum;
use rustix::fs::{Mode, OFlags};
use serde::Serialize;
use std::path::Path;
use std::process::Command;

/// A system that is measured. The order is that of the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum System {
    /// The release binary
    Stoa,
    /// The release binary with --objects: files are objects
    Objects,
    /// The local file system
    Ext4,
    /// Parallel requests with Stoa's S3 client: no file system at all
    Raw,
    /// The same, a file as one object: uploaded in parts, downloaded in ranges
    RawObject,
    /// The FUSE door over a store in memory: what the kernel's interface allows
    Floor,
    /// Both limits at once: the same bytes as parallel requests and through the FUSE floor, side by side
    Both,
    /// s3fs, from Debian
    S3fs,
    /// rclone mount, from Debian
    Rclone,
    /// ZeroFS as a block device (nbdfuse, loop) with ext4 on it
    Zerofs,
}

impl System {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stoa => "Stoa",
            Self::Objects => "Stoa, objects",
            Self::Ext4 => "ext4",
            Self::Raw => "raw S3",
            Self::RawObject => "raw S3, one object",
            Self::Floor => "FUSE floor",
            Self::Both => "raw S3 and floor at once",
            Self::S3fs => "s3fs",
            Self::Rclone => "rclone",
            Self::Zerofs => "ZeroFS (NBD, ext4)",
        }
    }

    /// Whether it has no S3 server behind it.
    pub(crate) fn is_local(self) -> bool {
        matches!(self, Self::Ext4 | Self::Floor)
    }

    /// Whether it is requests, and no file system.
    pub(crate) fn is_requests(self) -> bool {
        matches!(self, Self::Raw | Self::RawObject)
    }

    /// Whether it sets a limit, instead of being chosen in place of Stoa.
    pub(crate) fn is_limit(self) -> bool {
        self.is_requests() || matches!(self, Self::Ext4 | Self::Floor | Self::Both)
    }

    /// How to mount it, with its own files in `scratch`; None for what is no mount.
    pub(crate) fn recipe(self, store: Option<&Store>, scratch: &Path) -> Result<Option<Box<dyn Recipe>>> {
        Ok(match (self, store) {
            (Self::Floor | Self::Both, _) => Some(Box::new(floor::Floor)),
            (Self::Stoa, Some(store)) => Some(Box::new(stoa::Stoa::format(store, scratch)?)),
            (Self::Objects, Some(store)) => Some(Box::new(stoa::Stoa::objects(store, scratch))),
            (Self::S3fs, Some(store)) => Some(Box::new(s3fs::S3fs::new(store, scratch)?)),
            (Self::Rclone, Some(store)) => Some(Box::new(rclone::Rclone::new(store, scratch)?)),
            (Self::Zerofs, Some(store)) => Some(Box::new(zerofs::Zerofs::new(store, scratch)?)),
            _ => None,
        })
    }
}

/// How a file system is mounted, and what it promises.
pub(crate) trait Recipe: Sync {
    /// The command that serves `dir` until that is unmounted.
    fn serve(&self, dir: &Path) -> Result<Command>;

    /// Mounts it on `dir`.
    fn mount(&self, dir: &Path, log: &Path) -> Result<Box<dyn Mounted>> {
        Ok(Box::new(Mount::start(&mut self.serve(dir)?, dir, log)?))
    }

    /// Returns when everything written through `mount` is in the store, which may have to be asked for.
    fn make_durable(&self, mount: &dyn Mounted) -> Result<()> {
        write_back(mount.dir())
    }

    /// Whether data are in the store when fsync returns, as they must be.
    fn keeps_fsync(&self) -> bool {
        true
    }

    /// Whether each file is one object, of the same name.
    fn shows_objects(&self) -> bool {
        false
    }

    /// Removes what is cached on disk between two mounts.
    fn forget(&self) -> Result<()> {
        Ok(())
    }

    /// Whether what was written is there after a new mount.
    fn survives_remount(&self) -> bool {
        true
    }
}

/// Has the kernel send what only it has.
fn write_back(dir: &Path) -> Result<()> {
    let opened = rustix::fs::open(dir, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    Ok(rustix::fs::syncfs(opened)?)
}

/// An empty directory for what a system caches on disk.
fn empty(dir: &Path) -> Result<()> {
    if dir.exists() {
        std::fs::remove_dir_all(dir)?;
    }
    Ok(std::fs::create_dir_all(dir)?)
}
