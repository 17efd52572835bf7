//! The trait that joins stores and doors.

use crate::{Attr, Entry, Ino, Kind, Name, Result, SetAttr, StatFs};
use async_trait::async_trait;
use bytes::Bytes;

/// Who asks. Doors that let the kernel check permissions pass it only for ownership of new files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// User.
    pub uid: u32,
    /// Primary group.
    pub gid: u32,
}

impl Caller {
    /// The superuser.
    pub const ROOT: Self = Self { uid: 0, gid: 0 };
}

/// An open file, from [`Vfs::open`] to [`Vfs::release`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Handle(pub u64);

/// What a new inode is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// An empty regular file.
    Regular,
    /// An empty directory.
    Directory,
    /// A symbolic link to these bytes, 1 to 4095 of them.
    Symlink(Bytes),
    /// A FIFO, socket or device; `rdev` is zero but for devices.
    Special {
        /// Which.
        kind: Kind,
        /// The device number.
        rdev: u32,
    },
}

/// How to make a new inode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Make {
    /// What.
    pub node: Node,
    /// Permission bits before the umask.
    pub mode: u32,
    /// Bits to clear, unless the directory has a default ACL, which then decides (acl(5)).
    pub umask: u32,
}

/// What an open file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenFlags {
    /// It may be read. A file that may only be written can still be read by another handle.
    pub read: bool,
    /// It may be written.
    pub write: bool,
    /// Cut it to nothing first.
    pub truncate: bool,
    /// With `truncate`: clear set-uid, set-gid and capabilities too.
    pub clear_privileges: bool,
    /// The door keeps nothing of what is read (`O_DIRECT`): what is to be read again has to be kept by the store.
    pub uncached: bool,
}

/// How bytes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriteFlags {
    /// As in [`SetAttr`].
    pub clear_privileges: bool,
    /// They come from a cache that keeps the file's times itself, and sets them with [`Vfs::setattr`]: writing leaves them.
    pub cached: bool,
}

/// What [`Vfs::rename`] does with an existing target (renameat2(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenameMode {
    /// It is replaced.
    Replace,
    /// The call fails with [`crate::Error::Exists`].
    NoReplace,
    /// The two change places; both must exist.
    Exchange,
}

/// What [`Vfs::fallocate`] does with a range (fallocate(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocate {
    /// Make sure it is part of the file: the size grows unless `keep_size`.
    Reserve {
        /// Leave the size as it is.
        keep_size: bool,
    },
    /// Make it a hole; the size stays.
    PunchHole,
    /// Make it read as zeros; the size grows unless `keep_size`.
    Zero {
        /// Leave the size as it is.
        keep_size: bool,
    },
    /// Take it out: what follows moves down.
    Collapse,
    /// Open a hole here: what follows moves up.
    Insert,
}

/// What [`Vfs::seek`] looks for (lseek(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seek {
    /// The first byte that is not in a hole.
    Data,
    /// The first hole; the end of a file counts as one.
    Hole,
}

/// How [`Vfs::setxattr`] treats an attribute that is, or is not, there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XattrMode {
    /// Make or replace.
    Set,
    /// Make only: [`crate::Error::Exists`] otherwise.
    Create,
    /// Replace only: [`crate::Error::NoAttribute`] otherwise.
    Replace,
}

/// A place in a directory: stable for as long as the entry it follows exists, across remounts too. 0 is the start.
///
/// Stores use 3 and above, so that a door can number `.` and `..` itself; at most 2^63-1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cookie(pub u64);

impl Cookie {
    /// Before the first entry.
    pub const START: Self = Self(0);
}

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// Its name.
    pub name: Name,
    /// The inode it names.
    pub ino: Ino,
    /// What that is.
    pub kind: Kind,
    /// The place right after this entry.
    pub cookie: Cookie,
    /// Its attributes, where they were asked for: a reference to give back, like any [`Entry`].
    pub entry: Option<Entry>,
}

/// Some entries of a directory, in the order of their cookies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DirPage {
    /// The entries.
    pub entries: Vec<DirEntry>,
    /// Whether the directory ends here.
    pub end: bool,
}

/// How far a door may answer from its own caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CachePolicy {
    /// Nobody else can change the store: entries, attributes and pages stay valid until this door changes them, and
    /// the kernel may hold written pages.
    pub exclusive: bool,
    /// An inode's content changes through this door alone, as another content of the same name is another inode: pages stay
    /// valid. `exclusive` says as much.
    pub content_stays: bool,
    /// Otherwise, how long attributes and entries stay valid, in milliseconds.
    pub ttl_ms: u64,
    /// The store takes no writes.
    pub read_only: bool,
}

/// A file system.
///
/// Names are checked before they come here ([`Name`]); permissions are the door's to check, except where a method says
/// otherwise. An operation that returned is seen by every later one. What it changed is durable when [`Vfs::fsync`] or
/// [`Vfs::sync`] returned `Ok` after it, and not before, though it may be sooner. Any method can return
/// [`crate::Error::Io`], [`crate::Error::Corrupt`], and, if it changes something, [`crate::Error::ReadOnly`],
/// [`crate::Error::Fenced`] or [`crate::Error::NoSpace`]. [`crate::Error::Stale`] says that `ino` names nothing.
#[async_trait]
pub trait Vfs: Send + Sync + 'static {
    /// How far answers may be cached.
    fn cache_policy(&self) -> CachePolicy;

    /// Whether files can have ACLs. If not, a door need not ask for those of each.
    fn has_acls(&self) -> bool {
        true
    }

    /// Finds `name` in `parent`. The entry is a reference: see [`Vfs::forget`].
    ///
    /// # Errors
    /// [`crate::Error::NotFound`], [`crate::Error::NotDirectory`].
    async fn lookup(&self, parent: Ino, name: &Name) -> Result<Entry>;

    /// The entry of `ino` by its number alone, a reference like that of [`Vfs::lookup`]: for a door that decodes a file handle it
    /// gave out before (NFS, open_by_handle_at(2)).
    ///
    /// # Errors
    /// [`crate::Error::Unsupported`] where a store can't.
    async fn entry(&self, ino: Ino) -> Result<Entry> {
        let _ = ino;
        Err(crate::Error::Unsupported("finding an inode by its number"))
    }

    /// Gives back `count` references that came as entries. An inode without a name lives until the last reference to it is
    /// given back and the last handle is released. Never blocks.
    fn forget(&self, ino: Ino, count: u64);

    /// The directory that holds directory `ino`; the root holds itself.
    async fn parent(&self, ino: Ino) -> Result<Ino>;

    /// The attributes of `ino`, with every write so far counted in.
    async fn getattr(&self, ino: Ino) -> Result<Attr>;

    /// Changes the attributes that `set` names, all or none, and returns them all. A change of mode keeps an access ACL's
    /// mask in step with the group bits (acl(5)). A change of owner clears set-uid and set-gid of a regular file that
    /// others than root asked for: doors say so with `clear_privileges`.
    async fn setattr(&self, ino: Ino, set: &SetAttr) -> Result<Attr>;

    /// The target of a symbolic link.
    async fn readlink(&self, ino: Ino) -> Result<Bytes>;

    /// Makes an inode and names it. Its owner is the caller; its group the caller's, or the directory's if that is
    /// set-gid, which a new directory then is too; a default ACL of the directory is inherited (acl(5)).
    ///
    /// # Errors
    /// [`crate::Error::Exists`]; [`crate::Error::NotFound`] if the directory was removed.
    async fn make(&self, caller: Caller, parent: Ino, name: &Name, make: &Make) -> Result<Entry>;

    /// Makes a regular file without a name in `parent`'s file system (`O_TMPFILE`, open(2)); [`Vfs::link`] can name it.
    async fn make_unnamed(&self, caller: Caller, parent: Ino, make: &Make) -> Result<Entry>;

    /// Names `ino`, which is no directory, a second time.
    async fn link(&self, ino: Ino, parent: Ino, name: &Name) -> Result<Entry>;

    /// Removes a name that is no directory's.
    async fn unlink(&self, parent: Ino, name: &Name) -> Result<()>;

    /// Removes an empty directory.
    async fn rmdir(&self, parent: Ino, name: &Name) -> Result<()>;

    /// Moves a name, atomically. A file whose new content is not in the store yet gets there before the name it
    /// replaces is lost.
    ///
    /// # Errors
    /// Those of rename(2): [`crate::Error::Invalid`] for a directory into itself, [`crate::Error::NotEmpty`], ...
    async fn rename(&self, parent: Ino, name: &Name, to: Ino, new_name: &Name, mode: RenameMode) -> Result<()>;

    /// Up to `count` entries after `after`. With `attributes`, each has its [`Entry`]. `.` and `..` are not among them.
    async fn readdir(&self, dir: Ino, after: Cookie, count: usize, attributes: bool) -> Result<DirPage>;

    /// Opens a regular file.
    async fn open(&self, ino: Ino, flags: OpenFlags) -> Result<Handle>;

    /// Says that a descriptor of an open file was closed: returns an error that was not reported yet. Need not wait
    /// until anything is durable.
    async fn flush(&self, ino: Ino, handle: Handle) -> Result<()>;

    /// Gives a handle back.
    async fn release(&self, ino: Ino, handle: Handle);

    /// Up to `size` bytes at `offset`, in pieces that together are the answer; fewer only at the end of the file. A range
    /// that was never written is zeros.
    async fn read(&self, ino: Ino, handle: Handle, offset: u64, size: usize) -> Result<Vec<Bytes>>;

    /// Writes all of `data` at `offset`; the file grows as needed, and a gap is a hole. Waits while the store holds as
    /// many unwritten bytes as it may. `clear_privileges` as in [`SetAttr`]. `data` may be a part of a buffer of up to twice its length, which
    /// is not free before it is.
    async fn write(&self, ino: Ino, handle: Handle, offset: u64, data: Bytes, how: WriteFlags) -> Result<()>;

    /// Returns once the file's content, its attributes and every name operation before are durable. A failure that
    /// happened since the last report is returned once.
    async fn fsync(&self, ino: Ino) -> Result<()>;

    /// Returns once every operation of every file and directory that came before is durable.
    async fn sync(&self) -> Result<()>;

    /// Changes how a range of a file is stored (fallocate(2)).
    async fn fallocate(&self, ino: Ino, offset: u64, len: u64, how: Allocate) -> Result<()>;

    /// The offset of the first data or hole at or after `offset`.
    ///
    /// # Errors
    /// [`crate::Error::NoOffset`] at or beyond the end of the file, or when no data follows.
    async fn seek(&self, ino: Ino, offset: u64, what: Seek) -> Result<u64>;

    /// Makes `len` bytes at `to_offset` of `to` the same as those at `offset` of `ino`, without moving data where the store can
    /// (copy_file_range(2)). Returns how many: fewer only at the end of the source.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] if the two ranges overlap in one file.
    async fn copy_range(&self, ino: Ino, offset: u64, to: Ino, to_offset: u64, len: u64) -> Result<u64>;

    /// The value of an extended attribute.
    ///
    /// # Errors
    /// [`crate::Error::NoAttribute`].
    async fn getxattr(&self, ino: Ino, name: &[u8]) -> Result<Bytes>;

    /// The names of all extended attributes, with their namespaces (`user.`, `trusted.`, `security.`, `system.posix_acl_*`).
    async fn listxattr(&self, ino: Ino) -> Result<Vec<Bytes>>;

    /// Sets an extended attribute, of at most 255 bytes of name and 65536 of value (xattr(7)). Setting
    /// `system.posix_acl_access` sets the mode's permission bits too, and an ACL that says no more than a mode is not kept.
    /// `clear_setgid`: the caller is not in the file's group, so set-gid goes.
    async fn setxattr(&self, ino: Ino, name: &[u8], value: Bytes, mode: XattrMode, clear_setgid: bool) -> Result<()>;

    /// Removes an extended attribute.
    ///
    /// # Errors
    /// [`crate::Error::NoAttribute`].
    async fn removexattr(&self, ino: Ino, name: &[u8]) -> Result<()>;

    /// How full the store is.
    async fn statfs(&self) -> Result<StatFs>;
}
