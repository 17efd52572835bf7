//! The operations of a script.

use stoa_vfs::{Allocate, Caller, Kind, Name, RenameMode, Seek, XattrMode};

/// The names of the small namespace. One is long, and one no text.
const NAMES: [&[u8]; 7] = [b"a", b"b", b"c", b"d", b"e", &[b'x'; 255], b"\xff\x01"];
/// How many names there are.
pub(super) const NAME_COUNT: usize = NAMES.len();
/// How many files can be open at a time.
pub(super) const SLOTS: usize = 4;
/// The extended attributes that scripts use.
pub(super) const XATTRS: [&[u8]; 3] = [b"user.a", b"user.b", b"trusted.c"];

/// A place in the namespace: names from the root down, by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path(pub Vec<usize>);

impl Path {
    /// The names.
    pub(super) fn names(&self) -> impl Iterator<Item = Name> {
        self.0.iter().map(|number| Name::new(NAMES[number % NAME_COUNT]).unwrap())
    }
}

/// One operation. Offsets and sizes are in bytes; `slot` is a place for an open file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of the operations of the trait, under the same names")]
pub enum Op {
    Make { at: Path, kind: Kind, mode: u32, umask: u32, caller: Caller },
    MakeUnnamed { slot: usize, dir: Path, mode: u32 },
    Link { from: Path, to: Path },
    LinkSlot { slot: usize, to: Path },
    Unlink { at: Path },
    Rmdir { at: Path },
    Rename { from: Path, to: Path, mode: RenameMode },
    Open { slot: usize, at: Path, write: bool, truncate: bool, clear_privileges: bool },
    Close { slot: usize },
    Read { slot: usize, offset: u64, size: usize },
    Write { slot: usize, offset: u64, size: usize, seed: u64, clear_privileges: bool },
    Resize { at: Path, size: u64 },
    ResizeSlot { slot: usize, size: u64 },
    Chmod { at: Path, mode: u32 },
    Chown { at: Path, uid: Option<u32>, gid: Option<u32>, clear_privileges: bool },
    SetTimes { at: Path, secs: i64, nanos: u32 },
    Fallocate { slot: usize, offset: u64, len: u64, how: Allocate },
    CopyRange { from: usize, offset: u64, to: usize, to_offset: u64, len: u64 },
    Seek { slot: usize, offset: u64, what: Seek },
    SetXattr { at: Path, name: usize, size: usize, seed: u64, mode: XattrMode },
    SetAcl { at: Path, default: bool, user: Option<u32>, permissions: u16 },
    GetXattr { at: Path, name: usize },
    RemoveXattr { at: Path, name: usize },
    List { at: Path, count: usize },
    Getattr { at: Path },
    GetattrSlot { slot: usize },
    Readlink { at: Path },
    Parent { at: Path },
    Fsync { slot: usize },
    Flush { slot: usize },
    Sync,
}
