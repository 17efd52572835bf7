//! Real programs on a mount.

mod cargo_build;
mod git;
mod rsync;
mod sqlite;
mod tar;
