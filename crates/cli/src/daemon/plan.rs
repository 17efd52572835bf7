//! A mount as it is to be: everything that was typed, checked and made independent of the terminal it was typed at.

use super::dead;
use super::log::Log;
use super::objects::Objects;
use crate::args::{self, Access};
use crate::failure::{Failure, Outcome};
use crate::mount_options::MountWords;
use crate::store::{Place, real};
use crate::{control, mounts, owner, resources};
use std::fs::DirBuilder;
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stoa_fuse::MountOptions;
use stoa_volume::OpenOptions;

/// What `stoa mount` is going to do.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Where the volume, or the objects, are.
    pub(crate) place: Place,
    /// Where to mount it: absolute, without links.
    pub(crate) dir: PathBuf,
    /// How objects are shown as files, if that is wanted instead of a volume.
    pub(crate) objects: Option<Objects>,
    /// Whether to make a volume if there is none.
    pub(crate) create: bool,
    /// How to reach the store.
    pub(crate) access: Access,
    /// What to log, and where.
    pub(crate) log: Log,
    /// Where to offer counts to Prometheus.
    pub(crate) metrics: Option<SocketAddr>,
    /// Whether to say it in JSON.
    pub(crate) json: bool,
    words: MountWords,
    take_over: bool,
    memory_bytes_max: u64,
    cache_dir: Option<PathBuf>,
    cache_bytes_max: u64,
    commit_interval: Duration,
}

impl Plan {
    /// The plan for `args`. With `create`, missing local directories are made here, before anything else is done.
    pub(crate) fn new(args: args::Mount) -> Outcome<Self> {
        let memory_bytes_max = resources::memory(args.memory.memory);
        if memory_bytes_max < resources::LEAST {
            return Err(Failure::usage("--memory is less than 64M, the least that a volume works with"));
        }
        let place = Place::parse(&args.store)?;
        if args.create && !args.fake {
            place.make_directory()?;
            make_mount_point(&args.dir)?;
        }
        let objects = Objects::new(args.objects, &place)?;
        let dir = mount_point(&args.dir, args.fake)?;
        let log = Log::of_mount(&args.log, &dir, args.foreground)?;
        let cache_dir = args.cache_dir.as_deref().map(absolute).transpose()?;
        let mut access = args.access;
        access.ca_file = access.ca_file().as_deref().map(absolute).transpose()?;
        apart(&dir, place.directory(), "the store")?;
        apart(&dir, cache_dir.as_deref(), "the cache")?;
        apart(&dir, log.file(), "the log")?;
        Ok(Self {
            place,
            dir,
            objects,
            create: args.create,
            access,
            log,
            metrics: args.metrics,
            json: args.report.json,
            words: args.words,
            take_over: args.take_over,
            memory_bytes_max,
            cache_dir,
            cache_bytes_max: args.cache_size,
            commit_interval: args.commit_interval,
        })
    }

    /// The mount point as text.
    pub(crate) fn mountpoint(&self) -> String {
        self.dir.to_string_lossy().into_owned()
    }

    /// Whether changes are refused.
    pub(crate) fn read_only(&self) -> bool {
        self.words.read_only == Some(true) || self.objects.as_ref().is_some_and(Objects::are_past)
    }

    /// Whether times of last access stay: the kernel leaves that to whoever serves the mount.
    fn noatime(&self) -> bool {
        self.words.noatime == Some(true)
    }

    /// Whether other users see the mount: root mounts for everybody, as with any other file system.
    pub(crate) fn allow_other(&self) -> bool {
        self.words.allow_other.unwrap_or(control::uid() == 0)
    }

    /// What the person should know before it happens.
    pub(crate) fn warning(&self) -> Option<String> {
        let open = self.metrics.filter(|address| !address.ip().is_loopback())?;
        Some(format!(
            "--metrics {open}: whoever reaches that address can read what this mount counts, without authentication; 127.0.0.1:{} is for this machine only",
            open.port()
        ))
    }

    /// How long freed memory is kept for what needs some next.
    pub(crate) fn freed_memory_kept(&self) -> Duration {
        resources::freed_memory_kept(self.memory_bytes_max)
    }

    /// The most memory for dirty data and caches together.
    pub(crate) fn memory_bytes_max(&self) -> u64 {
        self.memory_bytes_max
    }

    /// Where to cache data on a local disk, and how much of it, if anywhere.
    pub(crate) fn cache_dir(&self) -> Option<(&Path, u64)> {
        self.cache_dir.as_deref().map(|dir| (dir, self.cache_bytes_max))
    }

    /// How the volume is opened, by this process.
    pub(crate) fn open_options(&self) -> Outcome<OpenOptions> {
        Ok(OpenOptions {
            read_only: self.read_only(),
            take_over: self.take_over,
            noatime: self.noatime(),
            memory_bytes_max: self.memory_bytes_max,
            cache_dir: self.cache_dir.clone(),
            cache_bytes_max: self.cache_bytes_max,
            commit_interval: self.commit_interval,
            owner: owner::owner(self.mountpoint())?,
        })
    }

    /// How it is mounted.
    pub(crate) fn mount_options(&self) -> MountOptions {
        let default = MountOptions::default();
        // The kernel's table has no way to write these.
        let source = self.place.name().replace(|c: char| c == ',' || c == '\\' || c.is_control(), "_");
        MountOptions {
            source,
            allow_other: Some(self.allow_other()),
            read_only: self.read_only(),
            suid: self.words.suid.unwrap_or(default.suid),
            dev: self.words.dev.unwrap_or(default.dev),
            noexec: self.words.noexec.unwrap_or(default.noexec),
            noatime: self.noatime(),
            background_max: resources::background_max(self.memory_bytes_max),
            dirty_bytes_max: resources::dirty_bytes_max(self.memory_bytes_max),
            buffers_max: resources::buffers_max(self.memory_bytes_max),
            ..default
        }
    }
}

fn make_mount_point(dir: &Path) -> Outcome<()> {
    // A dead mount is there, though it can't be looked at; what to do about it is said later.
    if dir.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        let made = DirBuilder::new().recursive(true).mode(0o755).create(dir);
        made.map_err(|error| Failure::because(format_args!("can't make the directory {}", dir.display()), &error))?;
    }
    Ok(())
}

/// The mount point, absolute and fit to be mounted on. A dead mount on it is cleared first, unless all this is a `fake`.
fn mount_point(dir: &Path, fake: bool) -> Outcome<PathBuf> {
    let shown = dir.display();
    let found = match mounts::resolve(dir) {
        Ok(found) => found,
        Err(failure) if dir.symlink_metadata().is_err() => {
            return Err(failure.advise("make it first (mkdir), or use --create"));
        }
        Err(failure) => return Err(failure),
    };
    if found.to_str().is_none() {
        return Err(Failure::new(format!("{shown}: the path of a mount point must be UTF-8")));
    }
    while let Some(there) = mounts::at(&found)? {
        if !dead::is(&found) {
            let what = format!("{} is mounted on {} already", there.source, found.display());
            return Err(Failure::new(what)
                .advise(format!("`stoa status {0}` shows it, `stoa umount {0}` unmounts it", found.display())));
        }
        if fake {
            return Ok(found);
        }
        dead::clear(&found, &there.source)?;
    }
    if !found.is_dir() {
        return Err(Failure::new(format!("{shown} is not a directory")));
    }
    Ok(found)
}

/// A mount whose own store or cache or log lies in it would wait for itself for ever; and a mount inside its own store would be
/// taken for a part of that.
fn apart(dir: &Path, other: Option<&Path>, what: &str) -> Outcome<()> {
    let Some(other) = other else { return Ok(()) };
    let other = real(other);
    if mounts::contains(dir, &other) {
        return Err(Failure::new(format!("{what} {} lies in the mount point {}", other.display(), dir.display()))
            .advise("choose places that don't contain each other"));
    }
    if what == "the store" && mounts::contains(&other, dir) {
        return Err(Failure::new(format!("the mount point {} lies in the store {}", dir.display(), other.display()))
            .advise("choose places that don't contain each other"));
    }
    Ok(())
}

pub(super) fn absolute(path: &Path) -> Outcome<PathBuf> {
    std::path::absolute(path).map_err(|error| Failure::because(path.display(), &error))
}

#[cfg(test)]
mod tests;
