//! The flags about objects as files.

use super::moment::moment;
use super::value::{encryption, mode, ttl};
use clap::builder::FalseyValueParser;
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use stoa_objects::s3::Encryption;

/// How the objects of a bucket are mounted as they are.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Objects as files")]
pub(crate) struct Objects {
    /// Mount the objects of an S3 bucket as they are, instead of a volume: the object photos/cat.jpg is the file cat.jpg in
    /// the directory photos. Files are changed in place and renamed by copies inside the store; docs/bucket.md says what can't be
    #[arg(long, conflicts_with_all = ["create", "take_over", "commit_interval"])]
    pub(crate) objects: bool,
    /// How long names, attributes and listings that were heard of are believed; 0: not at all
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = ttl, requires = "objects")]
    pub(crate) ttl: Duration,
    /// Where attributes come from: the listing (size, time), or the user metadata of each object too (mode, owner, time,
    /// symbolic links, as s3fs and rclone write them), which costs a request for each
    #[arg(long, value_name = "FROM", value_enum, default_value_t, requires = "objects")]
    pub(crate) attributes: AttributesFrom,
    /// Owner of files that say none [default: yourself]
    #[arg(long, value_name = "UID", requires = "objects")]
    pub(crate) uid: Option<u32>,
    /// Group of files that say none [default: your own]
    #[arg(long, value_name = "GID", requires = "objects")]
    pub(crate) gid: Option<u32>,
    /// Permissions of files that say none, in octal
    #[arg(long, value_name = "MODE", default_value = "0644", value_parser = mode, requires = "objects")]
    pub(crate) file_mode: u32,
    /// Permissions of directories that say none, in octal
    #[arg(long, value_name = "MODE", default_value = "0755", value_parser = mode, requires = "objects")]
    pub(crate) dir_mode: u32,
    /// Show what was there at this time, read-only, of a bucket that keeps versions: 2026-11-20T12:00 (UTC),
    /// 2026-11-20T12:00:30+01:00, 2026-11-20. It is the server's clock that counts
    #[arg(long, value_name = "TIME", value_parser = moment, requires = "objects")]
    pub(crate) at: Option<SystemTime>,
    /// How new objects are stored, as S3 calls it: STANDARD_IA, INTELLIGENT_TIERING, ... [default: as the bucket says]
    #[arg(long, value_name = "CLASS", requires = "objects")]
    pub(crate) storage_class: Option<String>,
    /// How the server encrypts new objects: s3; kms, or kms:KEY with a key of the key service; c, with the key in --sse-key-file
    /// [default: as the bucket says]
    #[arg(long, value_name = "HOW", value_parser = encryption, requires = "objects")]
    pub(crate) sse: Option<Encryption>,
    /// The key of objects that are encrypted with a key of your own (SSE-C): a file that not every user can read, with 32 bytes
    /// or their base64 form. Who loses it has lost the objects
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "objects")]
    pub(crate) sse_key_file: Option<PathBuf>,
    /// Say in each request that you pay for it, as some public buckets demand
    #[arg(long, value_parser = FalseyValueParser::new(), requires = "objects")]
    pub(crate) requester_pays: bool,
}

/// Where the attributes of files come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum AttributesFrom {
    /// Listings alone
    #[default]
    Listing,
    /// Each object too
    Objects,
}
