//! The flags of `stoa uploads`.

use super::Reach;
use super::value::age;
use clap::{Args, ValueHint};
use std::time::Duration;

/// Show uploads to a bucket that were begun and never completed, or give them up
///
/// A large object is uploaded in parts. A program that is killed meanwhile leaves those that have arrived: no object shows them, and the
/// bucket's owner pays for them. Shows when each was begun, its key and the server's name for it. Those of programs that are still
/// at work are shown too; --abort ends them as well, if they are old enough.
///
/// Exit codes: 0 done; 1 some could not be given up, they are listed.
#[derive(Debug, Args)]
pub(crate) struct Uploads {
    /// A path in a mount of objects; or s3://BUCKET/KEY, with a slash at the end for all below
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) path: String,
    /// Only those that were begun so long ago: 12h, 7d, 0 [default: 0; with --abort 1d]
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub(crate) older_than: Option<Duration>,
    /// Give them up, and the space of their parts
    #[arg(long)]
    pub(crate) abort: bool,
    #[command(flatten)]
    pub(crate) reach: Reach,
}
