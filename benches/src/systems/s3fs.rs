//! s3fs, with the settings that its manual has for speed.

use super::{Recipe, empty};
use crate::server::program;
use crate::store::{BUCKET, Store};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Debug)]
pub(super) struct S3fs {
    cache: PathBuf,
    options: String,
    variables: Vec<(&'static str, String)>,
}

impl S3fs {
    pub(super) fn new(store: &Store, scratch: &Path) -> Result<Self> {
        let cache = scratch.join("s3fs-cache");
        empty(&cache)?;
        let options = [
            format!("url={}", store.endpoint()),
            "use_path_request_style".to_owned(),
            // What is read or written stays on local disk, which makes it faster warm.
            format!("use_cache={}", cache.display()),
            // All attributes of 100,000 files, for as long as the mount lives: nobody else writes.
            "max_stat_cache_size=200000".to_owned(),
            "stat_cache_expire=3600".to_owned(),
            // Pages stay in the kernel when a file is opened again.
            "kernel_cache".to_owned(),
            "big_writes".to_owned(),
            "max_write=131072".to_owned(),
            // Parts of 16 MiB, 8 at once: as Stoa's segments.
            "multipart_size=16".to_owned(),
            "parallel_count=8".to_owned(),
            "multireq_max=64".to_owned(),
        ];
        let variables = store.credentials().map(|(name, value)| (name, value.to_owned())).to_vec();
        Ok(Self { cache, options: options.join(","), variables })
    }
}

impl Recipe for S3fs {
    fn serve(&self, dir: &Path) -> Result<Command> {
        let mut command = program("s3fs");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.arg(BUCKET).arg(dir).arg("-f").arg("-o").arg(&self.options);
        Ok(command)
    }

    fn shows_objects(&self) -> bool {
        true
    }

    fn forget(&self) -> Result<()> {
        empty(&self.cache)
    }
}
