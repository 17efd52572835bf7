//! What a volume tells about itself. All of it serialises, for `--json`.

use serde::Serialize;

/// What a volume is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VolumeInfo {
    /// Version of the format.
    pub format_version: u32,
    /// Identity of the volume.
    pub uuid: String,
    /// When it was made, RFC 3339.
    pub created: String,
    /// zstd level of file data; 0 for none.
    pub compression_level: u8,
}

/// The state of an open volume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// What is open.
    pub volume: VolumeInfo,
    /// Whether it refuses changes.
    pub read_only: bool,
    /// Why it lost the right to write, if it did.
    pub fenced: Option<String>,
    /// Bytes written by programs and not in the store yet.
    pub dirty_bytes: u64,
    /// Namespace changes not durable yet.
    pub uncommitted_operations: u64,
    /// Segments being uploaded.
    pub uploads_running: u64,
    /// Bytes of file data cached in memory.
    pub cache_memory_bytes: u64,
    /// Bytes cached on disk.
    pub cache_disk_bytes: u64,
    /// The memory ceiling.
    pub memory_bytes_max: u64,
    /// Bytes of file data that live in the volume (what `df` shows as used).
    pub used_bytes: u64,
    /// Inodes in use.
    pub inodes: u64,
    /// The last failure of the store, and when (RFC 3339).
    pub last_error: Option<String>,
}

/// Where a file's bytes are (`stoa info`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileInfo {
    /// Its inode number.
    pub ino: u64,
    /// `regular`, `directory`, ...
    pub kind: String,
    /// Length in bytes.
    pub size: u64,
    /// Names it has.
    pub links: u32,
    /// Bytes not in the store yet.
    pub dirty_bytes: u64,
    /// Its extents, in order; together they cover the file.
    pub extents: Vec<ExtentInfo>,
}

/// One extent of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExtentInfo {
    /// Where in the file it starts.
    pub offset: u64,
    /// How many bytes of the file it covers.
    pub len: u64,
    /// `data`, `inline` or `hole`.
    pub kind: &'static str,
    /// The object that holds its data.
    pub segment: Option<String>,
    /// How many frames it touches.
    pub frames: u64,
    /// How many bytes these take in the segment.
    pub stored_bytes: u64,
}

/// One thing that a check found wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What is wrong, and where: path or inode, object.
    pub what: String,
    /// Whether it was mended.
    pub repaired: bool,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct FsckReport {
    /// Inodes looked at.
    pub inodes: u64,
    /// Directory entries looked at.
    pub dentries: u64,
    /// Extents looked at.
    pub extents: u64,
    /// Segments looked at.
    pub segments: u64,
    /// Frames read and verified (with `--data`).
    pub frames_verified: u64,
    /// What is wrong; empty for a clean volume. First what can't be mended without losing something, then what can.
    pub problems: Vec<Problem>,
    /// How many more there are than are listed.
    pub problems_left_out: u64,
    /// How many there still are, listed or not.
    pub problems_left: u64,
    /// Segments that nothing names (left by a crash; `stoa gc` removes them): no fault.
    pub orphan_segments: u64,
}

/// What a collection did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct GcReport {
    /// Segments that were there.
    pub segments: u64,
    /// Segments deleted because nothing names them any more.
    pub deleted_segments: u64,
    /// Bytes these took.
    pub deleted_bytes: u64,
    /// Segments whose live remainder was moved to new ones.
    pub rewritten_segments: u64,
    /// Bytes moved.
    pub rewritten_bytes: u64,
}

/// Hears how far a long operation is. Called from any thread; must not block.
pub trait Progress: Send + Sync {
    /// `done` of `total` steps of `stage` are done; a total of 0 is not known yet.
    fn step(&self, stage: &'static str, done: u64, total: u64);
}

/// Hears, and says nothing: for work that nobody watches.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Progress for Silent {
    fn step(&self, _: &'static str, _: u64, _: u64) {}
}
