//! The flags of `stoa versions` and `stoa undelete`.

use super::Reach;
use super::moment::moment;
use clap::{Args, ValueHint};
use std::time::SystemTime;

/// Show the versions of an object, or of all below a directory, in a bucket that keeps versions
///
/// Newest first: time, size, version, ETag, key. `current` is what everybody sees; `deleted` is a mark that the object was deleted
/// then. Times are in UTC, and can be given to `stoa undelete --at` and `stoa mount --objects --at` as they are.
#[derive(Debug, Args)]
pub(crate) struct Versions {
    /// A path in a mount of objects, there or deleted; or s3://BUCKET/KEY, with a slash at the end for all below
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) path: String,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

/// Get back what was deleted, in a bucket that keeps versions: files, and all below directories
///
/// Without --at, what is deleted comes back as it was before. With it, all is made again what it was at that time: what was replaced
/// since is copied from its old version, inside the store. What was made since stays, and is told.
///
/// No version that holds data is ever deleted: an object comes back by removing the delete markers over it, or as a new version.
/// Mounts show it when what they believe is over (--ttl).
///
/// Exit codes: 0 done; 1 something could not be got back, it is listed.
#[derive(Debug, Args)]
pub(crate) struct Undelete {
    /// Paths in a mount of objects, as they were; or s3://BUCKET/KEY, with a slash at the end for all below
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    /// The time to go back to: 2026-11-20T12:00 (UTC), 2026-11-20T12:00:30+01:00, 2026-11-20. It is the server's clock that counts
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) at: Option<SystemTime>,
    /// Change nothing; say what would be done
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) reach: Reach,
}
