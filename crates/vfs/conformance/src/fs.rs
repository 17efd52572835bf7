//! [`Fs`]: a store as the cases see it, with the steps that many of them take.

use crate::Capabilities;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;
use stoa_vfs::{Attr, Caller, Cookie, DirEntry, Ino, Kind, Make, Name, Node, OpenFlags, Result, SetAttr, Vfs};

/// The root of every store, shorter.
pub(crate) const ROOT: Ino = Ino::ROOT;
/// Whom the cases' files belong to.
pub(crate) const CALLER: Caller = Caller { uid: 1000, gid: 100 };
/// For opening a file to read and write.
pub(crate) const WRITE: OpenFlags =
    OpenFlags { read: true, write: true, truncate: false, clear_privileges: false, uncached: false };

/// The store under test. References are never given back, except where a case is about them.
#[derive(Clone)]
pub struct Fs {
    vfs: Arc<dyn Vfs>,
    pub(crate) can: Capabilities,
}

impl Deref for Fs {
    type Target = dyn Vfs;

    fn deref(&self) -> &Self::Target {
        self.vfs.as_ref()
    }
}

impl Debug for Fs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fs").field("can", &self.can).finish_non_exhaustive()
    }
}

/// A legal name.
pub(crate) fn name(bytes: impl AsRef<[u8]>) -> Name {
    Name::new(bytes.as_ref().to_vec()).unwrap()
}

/// Asserts that an operation was refused with this errno.
#[track_caller]
pub(crate) fn refused<T: Debug>(result: Result<T>, errno: i32) {
    match result {
        Ok(value) => panic!("was done ({value:?}), and not refused with errno {errno}"),
        Err(error) => assert_eq!(error.errno(), errno, "refused with another error: {error:?}"),
    }
}

/// How to make `node` with plain permissions.
pub(crate) fn plain(node: Node) -> Make {
    let mode = if node == Node::Directory { 0o755 } else { 0o644 };
    Make { node, mode, umask: 0 }
}

/// `len` bytes that no other `seed` gives, without a period that a page or frame could hide.
pub(crate) fn pattern(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// Long enough that the coarse clock which stamps files has moved on (it ticks every 1 to 10 ms).
pub(crate) async fn tick() {
    tokio::time::sleep(Duration::from_millis(25)).await;
}

impl Fs {
    /// `vfs` with what it can do.
    pub fn new(vfs: Arc<dyn Vfs>, can: Capabilities) -> Self {
        Self { vfs, can }
    }

    pub(crate) async fn node(&self, dir: Ino, file: impl AsRef<[u8]>, node: Node) -> Ino {
        self.make(CALLER, dir, &name(file), &plain(node)).await.unwrap().attr.ino
    }

    pub(crate) async fn file(&self, dir: Ino, file: impl AsRef<[u8]>) -> Ino {
        self.node(dir, file, Node::Regular).await
    }

    pub(crate) async fn dir(&self, dir: Ino, file: impl AsRef<[u8]>) -> Ino {
        self.node(dir, file, Node::Directory).await
    }

    pub(crate) async fn symlink(&self, dir: Ino, file: impl AsRef<[u8]>, target: &'static str) -> Ino {
        self.node(dir, file, Node::Symlink(Bytes::from_static(target.as_bytes()))).await
    }

    /// A new file with this content.
    pub(crate) async fn file_with(&self, dir: Ino, file: impl AsRef<[u8]>, content: &[u8]) -> Ino {
        let ino = self.file(dir, file).await;
        self.put(ino, 0, content).await;
        ino
    }

    pub(crate) async fn find(&self, dir: Ino, file: impl AsRef<[u8]>) -> Result<Ino> {
        self.lookup(dir, &name(file)).await.map(|entry| entry.attr.ino)
    }

    pub(crate) async fn attr(&self, ino: Ino) -> Attr {
        self.getattr(ino).await.unwrap()
    }

    pub(crate) async fn size(&self, ino: Ino) -> u64 {
        self.attr(ino).await.size
    }

    pub(crate) async fn nlink(&self, ino: Ino) -> u32 {
        self.attr(ino).await.nlink
    }

    pub(crate) async fn set_size(&self, ino: Ino, size: u64) {
        let set = SetAttr { size: Some(size), ..SetAttr::default() };
        assert_eq!(self.setattr(ino, &set).await.unwrap().size, size);
    }

    pub(crate) async fn chmod(&self, ino: Ino, mode: u32) -> Attr {
        self.setattr(ino, &SetAttr { mode: Some(mode), ..SetAttr::default() }).await.unwrap()
    }

    /// Opens, writes, closes.
    pub(crate) async fn put(&self, ino: Ino, offset: u64, data: &[u8]) {
        self.try_put(ino, offset, data).await.unwrap();
    }

    pub(crate) async fn try_put(&self, ino: Ino, offset: u64, data: &[u8]) -> Result<()> {
        let handle = self.open(ino, WRITE).await?;
        let written =
            self.write(ino, handle, offset, Bytes::copy_from_slice(data), stoa_vfs::WriteFlags::default()).await;
        let flushed = self.flush(ino, handle).await;
        self.release(ino, handle).await;
        written.and(flushed)
    }

    /// Opens, reads, closes.
    pub(crate) async fn get(&self, ino: Ino, offset: u64, size: usize) -> Vec<u8> {
        let handle = self.open(ino, OpenFlags::default()).await.unwrap();
        let pieces = self.read(ino, handle, offset, size).await.unwrap();
        self.release(ino, handle).await;
        pieces.concat()
    }

    /// The whole file.
    pub(crate) async fn content(&self, ino: Ino) -> Vec<u8> {
        let size = usize::try_from(self.size(ino).await).unwrap();
        self.get(ino, 0, size + 1).await
    }

    /// Asserts the whole content, without printing megabytes when it is another.
    pub(crate) async fn expect(&self, ino: Ino, expected: &[u8]) {
        assert_eq!(self.size(ino).await, expected.len() as u64, "size");
        same_bytes(&self.content(ino).await, expected);
    }

    /// Every entry, by pages of `count`.
    pub(crate) async fn scan(&self, dir: Ino, count: usize) -> Vec<DirEntry> {
        let mut entries: Vec<DirEntry> = Vec::new();
        let mut after = Cookie::START;
        loop {
            let page = self.readdir(dir, after, count, false).await.unwrap();
            assert!(page.entries.len() <= count, "more entries than were asked for");
            assert!(page.end || !page.entries.is_empty(), "a page without entries that is not the end");
            entries.extend(page.entries);
            if page.end {
                return entries;
            }
            after = entries.last().unwrap().cookie;
        }
    }

    /// What a directory holds.
    pub(crate) async fn list(&self, dir: Ino) -> BTreeMap<Vec<u8>, (Ino, Kind)> {
        let entries = self.scan(dir, 100).await;
        let count = entries.len();
        let list: BTreeMap<_, _> =
            entries.into_iter().map(|entry| (entry.name.as_bytes().to_vec(), (entry.ino, entry.kind))).collect();
        assert_eq!(list.len(), count, "a name was listed twice");
        list
    }

    /// The names in a directory, in order of their bytes.
    pub(crate) async fn names(&self, dir: Ino) -> Vec<String> {
        self.list(dir).await.into_keys().map(|name| String::from_utf8_lossy(&name).into_owned()).collect()
    }
}

/// Asserts equal bytes, and says where they first differ.
#[track_caller]
pub(crate) fn same_bytes(got: &[u8], expected: &[u8]) {
    assert_eq!(got.len(), expected.len(), "number of bytes");
    if let Some(at) = got.iter().zip(expected).position(|(got, expected)| got != expected) {
        panic!("byte {at} of {} is {:#04x} and not {:#04x}", got.len(), got[at], expected[at]);
    }
}
