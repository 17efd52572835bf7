//! The FUSE floor: the same door over the model in memory, in a process of its own.

use super::Recipe;
use crate::server::program;
use anyhow::Result;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use stoa_conformance::Model;
use stoa_fuse::{Mount, MountOptions};
use tokio::runtime::Runtime;

#[derive(Debug)]
pub(super) struct Floor;

impl Recipe for Floor {
    fn serve(&self, dir: &Path) -> Result<Command> {
        let mut command = program(std::env::current_exe()?);
        command.arg("serve-floor").arg(dir);
        Ok(command)
    }

    fn survives_remount(&self) -> bool {
        false
    }
}

/// Serves `dir` until it is unmounted: what the process does that [`Floor`] starts.
pub(crate) fn serve(dir: &Path) -> Result<()> {
    let runtime = Runtime::new()?;
    // As `stoa mount` mounts for root.
    let options = MountOptions { source: "floor".to_owned(), suid: true, dev: true, ..MountOptions::default() };
    let mount = Mount::new(Arc::new(Model::new()), dir, options, runtime.handle().clone())?;
    runtime.block_on(mount.wait());
    Ok(())
}
