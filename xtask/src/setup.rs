//! Installs what tests need. Quick when everything is there already.

mod debian;
mod fsx;
mod programs;

use anyhow::Result;

/// Installs everything.
pub(crate) fn run() -> Result<()> {
    debian::install()?;
    programs::install()
}

/// Installs what Stoa is measured beside. Only for the bench.
pub(crate) fn peers() -> Result<()> {
    debian::install_peers()?;
    programs::install_peers()
}
