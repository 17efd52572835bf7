//! The directory that a row works in.

use crate::mount::Mounted;
use crate::systems::Recipe;
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A directory, and the mount on it, unless it belongs to the local file system.
pub(crate) struct Place {
    mount: Option<Box<dyn Mounted>>,
    recipe: Option<Box<dyn Recipe>>,
    dir: PathBuf,
    log: PathBuf,
    mounted_in: Option<Duration>,
}

impl Place {
    /// Mounts what `recipe` says in `scratch`.
    pub(crate) fn new(recipe: Option<Box<dyn Recipe>>, scratch: &Path) -> Result<Self> {
        let (dir, log) = (scratch.join("files"), scratch.join("client.log"));
        fs::create_dir(&dir)?;
        let mut place = Self { mount: None, recipe, dir, log, mounted_in: None };
        place.mount()?;
        Ok(place)
    }

    fn mount(&mut self) -> Result<()> {
        if let Some(recipe) = &self.recipe {
            let started = Instant::now();
            self.mount = Some(recipe.mount(&self.dir, &self.log)?);
            self.mounted_in = Some(started.elapsed());
        }
        Ok(())
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.join(name)
    }

    /// How long the last mount took, if there is one.
    pub(crate) fn mounted_in(&self) -> Option<Duration> {
        self.mounted_in
    }

    /// The processes that serve it.
    pub(crate) fn pids(&self) -> Vec<u32> {
        self.mount.as_ref().map(|mount| mount.pids()).unwrap_or_default()
    }

    /// Whether each file is one object, of the same name.
    pub(crate) fn shows_objects(&self) -> bool {
        self.recipe.as_ref().is_some_and(|recipe| recipe.shows_objects())
    }

    /// Returns when everything written so far is durable.
    pub(crate) fn make_durable(&self) -> Result<()> {
        match (&self.recipe, &self.mount) {
            (Some(recipe), Some(mount)) => recipe.make_durable(mount.as_ref()),
            _ => {
                let dir = File::open(&self.dir)?;
                Ok(rustix::fs::syncfs(dir)?)
            }
        }
    }

    /// Returns when the files are durable that fsync was called for and that are closed by now: mostly, at once.
    pub(crate) fn finish_fsync(&self) -> Result<()> {
        match &self.recipe {
            Some(recipe) if !recipe.keeps_fsync() => self.make_durable(),
            _ => Ok(()),
        }
    }

    /// Empties every cache: the system's own, in memory and on disk, and the kernel's.
    pub(crate) fn cool(&mut self) -> Result<()> {
        self.make_durable()?;
        if let Some(recipe) = self.recipe.as_ref().filter(|recipe| recipe.survives_remount()) {
            self.mount.take().context("no mount")?.unmount()?;
            recipe.forget()?;
            self.mount()?;
        }
        drop_caches()
    }
}

/// Empties the kernel's caches.
pub(crate) fn drop_caches() -> Result<()> {
    rustix::fs::sync();
    fs::write("/proc/sys/vm/drop_caches", "3").context("dropping the kernel's caches needs root")
}
