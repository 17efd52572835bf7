//! The flags of commands that work on objects without a mount.

use super::{Access, Report};
use clap::builder::FalseyValueParser;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// How to reach the bucket, and how to say what came of it.
#[derive(Debug, Clone, Args)]
pub(crate) struct Reach {
    /// Say in each request that you pay for it, as some public buckets demand
    #[arg(long, value_parser = FalseyValueParser::new())]
    pub(crate) requester_pays: bool,
    /// The key of objects that are encrypted with a key of your own (SSE-C), and of what `stoa export` makes: a file that not
    /// every user can read, with 32 bytes or their base64 form
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) sse_key_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) access: Access,
    #[command(flatten)]
    pub(crate) report: Report,
}
