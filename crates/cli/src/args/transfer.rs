//! The flags of `stoa import` and `stoa export`.

use super::{Access, Report};
use clap::builder::FalseyValueParser;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Copy the objects of a bucket into a directory: into a mounted volume, say
///
/// photos/cat.jpg becomes cat.jpg in the directory photos. Names that files can't have are written as in a mount with
/// --objects. Mode, owner, time and links are those that s3fs and rclone write; other user metadata become attributes user.*,
/// the content type user.mime_type. Each file is verified against the checksum that the server has of it, and is under its name
/// only when it is complete.
///
/// Run again, it goes on: what is there and the same is left. What differs, and may have been changed here, is told and
/// left too, unless --overwrite says otherwise. Nothing is ever deleted.
///
/// Exit codes: 0 all is there; 1 some files could not be copied, they are listed; 130 interrupted.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// s3://BUCKET or s3://BUCKET/PREFIX
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,
    /// The directory to copy into, which must be there
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) copying: Copying,
}

/// Copy a directory of a mounted volume, or any other, into a bucket, as plain objects
///
/// The opposite of `stoa import`, which see. Directories become markers (dir/). Every byte is sent with a checksum, and what
/// the server says that it has is compared with what was read. A file that is written to meanwhile is copied again. Each name
/// of a file with several links becomes an object, and holes become zeros. Devices, FIFOs and sockets are listed as not copied.
///
/// Run again, it goes on: objects of the same size and time are left. Those that differ are told and left too, unless --overwrite
/// says otherwise. Nothing is ever deleted.
///
/// Exit codes: 0 all is there; 1 some files could not be copied, they are listed; 130 interrupted.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The directory to copy
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
    /// s3://BUCKET or s3://BUCKET/PREFIX
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) copying: Copying,
}

/// How to copy.
#[derive(Debug, Clone, Args)]
pub(crate) struct Copying {
    /// How many files, and parts of large ones, are copied at once; each takes up to 8 MiB of memory
    #[arg(short = 'j', long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u8).range(1..=128))]
    pub(crate) parallel: u8,
    /// Replace what is there and differs
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Copy nothing; say what would be copied
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    /// Copy also what does not have the checksum that the server says
    #[arg(long)]
    pub(crate) unverified: bool,
    /// Say in each request that you pay for it, as some public buckets demand
    #[arg(long, value_parser = FalseyValueParser::new())]
    pub(crate) requester_pays: bool,
    /// The key of objects that are encrypted with a key of your own (SSE-C), which is also that of what export makes: a file that
    /// not every user can read, with 32 bytes or their base64 form
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) sse_key_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) access: Access,
    #[command(flatten)]
    pub(crate) report: Report,
}
