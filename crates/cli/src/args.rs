//! The flag table: these structs are the parser, `--help`, the man pages, the completions and the names of `-o` options.

mod access;
mod listen;
mod moment;
mod objects;
mod past;
mod reach;
mod transfer;
mod uploads;
mod value;

pub(crate) use access::Access;
pub(crate) use moment::shown;
pub(crate) use objects::{AttributesFrom, Objects};
pub(crate) use past::{Undelete, Versions};
pub(crate) use reach::Reach;
pub(crate) use transfer::{Copying, Export, Import};
pub(crate) use uploads::Uploads;
pub(crate) use value::{LogTarget, duration, size};

use crate::mount_options::MountWords;
use clap::{ArgAction, Args, Parser, Subcommand, ValueHint};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  stoa mount --create ./store ./files      make a volume in a local directory and mount it
  stoa bench s3://bucket/volume            how fast is the bucket from here
  stoa format s3://bucket/volume           make a volume in a bucket
  stoa mount s3://bucket/volume /mnt       mount it, here or on any other machine
  stoa mount --objects s3://bucket /mnt    mount the objects of a bucket as they are
  stoa status                              what is mounted, and what is not in the store yet
  stoa stats /mnt                          what it does, line by line; `stoa profile /mnt`: what it spends its time on
  stoa umount /mnt                         make everything durable, unmount, wait for the end
  stoa fsck s3://bucket/volume --data      read and verify every byte
  stoa import s3://bucket/photos /mnt      copy objects into a mounted volume (`stoa export`: the other way)
  stoa undelete /mnt/dir --dry-run         what can be got back of objects, in a bucket that keeps versions

STORE is s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX or a local directory. Credentials come from
where the provider's own tools look for them (environment, profile, web identity, instance role), never from flags.

In /etc/fstab (with a link /sbin/mount.stoa to this program):
  s3://bucket/volume  /mnt  stoa  _netdev,allow_other,memory=1G  0  0

Exit codes: 0 done; 1 failed; 2 wrong usage. fsck: 0 clean, 1 all problems repaired, 4 problems left, 8 could not check.";

/// Stoa makes object storage usable as files.
#[derive(Debug, Parser)]
#[command(name = "stoa", version, after_help = EXAMPLES, max_term_width = 120)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Say more: what was behind a failure; twice: what is being done
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Format(Format),
    Mount(Box<Mount>),
    Umount(Umount),
    Status(Status),
    Stats(Stats),
    Profile(Profile),
    Bench(Bench),
    Warmup(Warmup),
    Info(Info),
    Fsck(Fsck),
    Gc(Gc),
    Import(Import),
    Export(Export),
    Versions(Versions),
    Undelete(Undelete),
    Uploads(Uploads),
    Completions(Completions),
    Man(Man),
}

/// Less than a mebibyte measures nothing, and a bench of more than a tebibyte is a mistake.
fn bench_size(text: &str) -> Result<u64, String> {
    let bytes = size(text)?;
    if (1 << 20..=1 << 40).contains(&bytes) { Ok(bytes) } else { Err(format!("{text} is not between 1M and 1T")) }
}

/// How results are printed.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Report {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// How much memory is used.
#[derive(Debug, Clone, Args)]
pub(crate) struct Memory {
    /// Most memory for dirty data and caches together [default: 25 % of the cgroup's limit or of RAM, at most 4G]
    #[arg(long, value_name = "SIZE", value_parser = size, env = "STOA_MEMORY", hide_env_values = true)]
    pub(crate) memory: Option<u64>,
}

/// Make an empty volume in STORE, which must hold nothing yet
#[derive(Debug, Args)]
pub(crate) struct Format {
    /// s3://BUCKET/PREFIX, gs://..., az://... or a directory
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) store: String,
    /// zstd level for file data; 0 stores it as it is
    #[arg(long, value_name = "LEVEL", default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=19))]
    pub(crate) compression: u8,
    #[command(flatten)]
    pub(crate) access: Access,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// Mount the volume in STORE, or with --objects the objects in it, on the directory DIR
///
/// Returns when the mount answers and leaves a process in the background that serves it. What is said of
/// the mount and the store can be given as options too, for /etc/fstab: `-o memory=1G,take_over,cache_dir=/var/cache/stoa`.
#[derive(Debug, Args)]
#[command(args_override_self = true)]
pub(crate) struct Mount {
    /// s3://BUCKET/PREFIX, gs://..., az://... or a directory
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) store: String,
    /// The directory to mount on
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
    /// Make a volume if there is none yet, and missing local directories
    #[arg(long)]
    pub(crate) create: bool,
    /// Serve the mount from this process, until it is unmounted or interrupted
    #[arg(short, long)]
    pub(crate) foreground: bool,
    /// Refuse every change (`-o ro`)
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Shut out another mount of this volume that is gone for good, and take its place
    #[arg(long)]
    pub(crate) take_over: bool,
    /// Mount options: ro, allow_other, default_permissions, noatime, nosuid, nodev, noexec, and every long flag
    #[arg(short = 'o', long = "options", value_name = "OPTION,...", action = ArgAction::Append)]
    pub(crate) options: Vec<String>,
    /// What `options` say about the mount itself.
    #[arg(skip)]
    pub(crate) words: MountWords,
    /// Whether to stop short of mounting (`mount -f`).
    #[arg(skip)]
    pub(crate) fake: bool,
    #[command(flatten)]
    pub(crate) memory: Memory,
    /// Keep a cache of stored data in this local directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, env = "STOA_CACHE_DIR", hide_env_values = true)]
    pub(crate) cache_dir: Option<PathBuf>,
    /// Most bytes to keep there; never more than nine tenths of what is free on that disk
    #[arg(long, value_name = "SIZE", default_value = "10G", value_parser = size, env = "STOA_CACHE_SIZE", hide_env_values = true)]
    pub(crate) cache_size: u64,
    /// How long a change may wait before it is made durable unasked (fsync never waits for this)
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    pub(crate) commit_interval: Duration,
    /// Offer counts to Prometheus at http://ADDR/metrics: 127.0.0.1:9090, a port alone, or 0 for any that is free (`stoa
    /// status` says which). There is no authentication: an address that other machines reach lets them all read it
    #[arg(long, value_name = "ADDR", value_parser = listen::listen, env = "STOA_METRICS", hide_env_values = true)]
    pub(crate) metrics: Option<SocketAddr>,
    /// Log to this file, or at this level: error, warn, info, debug, trace, or a filter such as stoa_volume=debug.
    /// In the background the default is a file in /var/log/stoa (root) or ~/.local/state/stoa
    #[arg(long, value_name = "FILE|LEVEL", action = ArgAction::Append, env = "STOA_LOG", hide_env_values = true)]
    pub(crate) log: Vec<LogTarget>,
    #[command(flatten)]
    pub(crate) objects: Objects,
    #[command(flatten)]
    pub(crate) access: Access,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// Make everything durable, unmount DIR, and wait until its volume is closed
#[derive(Debug, Args)]
pub(crate) struct Umount {
    /// The directory it is mounted on
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
    /// Detach now, though programs still use it; it ends when they let go
    #[arg(short, long)]
    pub(crate) lazy: bool,
    /// Unmount even if the mount does not answer; calls under way fail
    #[arg(short, long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// Show what is mounted, what is not in the store yet, caches, memory and the last error
#[derive(Debug, Args)]
pub(crate) struct Status {
    /// A mounted directory or its store; all mounts if not given
    #[arg(value_name = "DIR|STORE", value_hint = ValueHint::AnyPath)]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// Show what a mount does, live: one line per interval, like vmstat
///
/// The first line holds averages since the mount began (memory: as it is now), every further
/// one the interval before it. Columns, per second but for the last four:
///
///   ops             operations that programs asked of the mount
///   read, write     bytes they read and wrote, but for what the kernel had cached
///   get, put        requests to the store, repeated ones too (put: also parts of uploads)
///   other           all other requests: list, head, delete, ...
///   recv, sent      bytes of objects from and to the store
///   hit             share of the reads of stored data that found it in the cache
///   dirty           bytes that programs wrote and that are not in the store yet
///   cache           bytes cached in memory
///   memory          memory of the process behind the mount
///
/// K, M, G are powers of 1024 for bytes, of 1000 for counts. It ends with the mount, with ^C, or
/// after --count lines.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Stats {
    /// A mounted directory or its store
    #[arg(value_name = "DIR|STORE", value_hint = ValueHint::AnyPath)]
    pub(crate) target: String,
    /// Time between two lines
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    pub(crate) interval: Duration,
    /// End after so many lines, the first included
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    /// Print one JSON object a line: plain numbers, bytes, and rates per second
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show which operations a mount spends its time on, and how long they take
///
/// Operations are named as the kernel's FUSE protocol does: lookup (a name), getattr (stat), open, read, write, flush
/// (close), fsync, release, ... Each time is from having read the request to answering it, waiting for the store included.
/// What the kernel answers from its own cache never comes here. Several run at once, so that the total of a kind may
/// exceed the time that has passed.
///
/// p50, p90 and p99 are the times that 50, 90 and 99 per cent did not exceed, at most 25 % too long. An error is any answer
/// that is one, also "no such file" to a lookup.
#[derive(Debug, Args)]
pub(crate) struct Profile {
    /// A mounted directory or its store
    #[arg(value_name = "DIR|STORE", value_hint = ValueHint::AnyPath)]
    pub(crate) target: String,
    /// Measure for so long (or until ^C), instead of showing everything since the mount began
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub(crate) length: Option<Duration>,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// Measure a store, or a mount and the store behind it: what to run first with a new bucket
///
/// Of a STORE: bandwidth of PUT and GET with objects of 16 MiB, 8 at once; the latency of small PUTs and GETs one after the
/// other; LIST. The objects lie below one prefix, .stoa-bench-..., which is removed at the end, also after an error or ^C.
/// There need not be a volume in it, and one that is there is not touched.
///
/// Of a DIR in a mount: the same, asked of the process behind the mount, and beside it files: one large file written with
/// fsync, read back past the kernel's cache (how much of it came from the store, and not from the mount's cache, is shown), 4 KiB
/// at random places of it, a thousand small files. They lie in a directory of their own, which is removed.
///
/// It costs requests, and --size of traffic each way. The requests beside a mount of objects say nothing of payment, encryption and storage class,
/// whatever that was told.
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// s3://BUCKET/PREFIX, gs://..., az://..., a directory of objects, or a directory in a mount
    #[arg(value_name = "STORE|DIR", value_hint = ValueHint::AnyPath)]
    pub(crate) target: String,
    /// How much is moved each way to measure bandwidth
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = bench_size)]
    pub(crate) size: u64,
    #[command(flatten)]
    pub(crate) access: Access,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// Fill the cache of a mount with files, or with all files below directories
///
/// Reads them (not holes, and past the kernel's own cache), several at once, so that who needs them next does not wait for
/// the store. Links are not followed; other file systems mounted below are left out.
///
/// The cache is the one on disk if the mount has one (--cache-dir), or else the one in memory, about a sixth of --memory.
/// It stops with a message when it has read as much as that holds: more would only push out what was just read. That is
/// no failure; `stopped` in --json tells.
///
/// Exit codes: 0 read, or as much as fits; 1 some files could not be read, they are listed; 130 interrupted.
#[derive(Debug, Args)]
pub(crate) struct Warmup {
    /// Files and directories, all in one mount
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
    /// How many files are read at once
    #[arg(short = 'j', long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=128))]
    pub(crate) parallel: u8,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// Show where the bytes of a file are: inode, extents, segments; or which object it is
#[derive(Debug, Args)]
pub(crate) struct Info {
    /// A file or directory in a mounted volume
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// Check the volume in STORE: namespace, segments, references and live-byte counts
#[derive(Debug, Args)]
pub(crate) struct Fsck {
    /// The store, or the directory it is mounted on; a mounted volume is checked by its mount
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) store: String,
    /// Read and verify every frame of data too
    #[arg(long)]
    pub(crate) data: bool,
    /// Mend what can be mended without losing anything
    #[arg(long)]
    pub(crate) repair: bool,
    /// Shut out another mount of this volume that is gone for good
    #[arg(long)]
    pub(crate) take_over: bool,
    #[command(flatten)]
    pub(crate) memory: Memory,
    #[command(flatten)]
    pub(crate) access: Access,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// Delete what nothing names any more and rewrite segments that are mostly dead
#[derive(Debug, Args)]
pub(crate) struct Gc {
    /// The store, or the directory it is mounted on; a mounted volume is cleaned by its mount
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) store: String,
    /// Shut out another mount of this volume that is gone for good
    #[arg(long)]
    pub(crate) take_over: bool,
    #[command(flatten)]
    pub(crate) memory: Memory,
    #[command(flatten)]
    pub(crate) access: Access,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// Print a completion script for a shell
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// For which shell
    pub(crate) shell: clap_complete::Shell,
}

/// Print the manual page, or write all pages into DIR
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Where to write them
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,
}

#[cfg(test)]
mod tests;
