//! A volume over a store in memory, and what most tests do with it. What fails here ends the test.

use bytes::Bytes;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use std::sync::Arc;
use std::time::Duration;
use stoa_vfs::{Caller, Handle, Ino, Make, Name, Node, OpenFlags, Vfs, WriteFlags};
use stoa_volume::{FormatOptions, FsckOptions, OpenOptions, Owner, Silent, Volume};

pub(crate) type Store = Arc<dyn ObjectStore>;

/// A file that is open.
pub(crate) type File = (Ino, Handle);

/// More than what lives in the namespace: it needs a segment.
pub(crate) const LARGE: usize = 100_000;

pub(crate) const REGULAR: Make = Make { node: Node::Regular, mode: 0o644, umask: 0 };

/// A store with an empty volume.
pub(crate) async fn formatted() -> Store {
    let store: Store = Arc::new(InMemory::new());
    format(&store).await.unwrap();
    store
}

pub(crate) async fn format(store: &Store) -> stoa_volume::Result<stoa_volume::VolumeInfo> {
    stoa_volume::format(Arc::clone(store), &FormatOptions::default()).await
}

pub(crate) fn options() -> OpenOptions {
    OpenOptions::new(Owner::new("test", "test"))
}

/// Nothing becomes durable by itself while a test runs, but what goes into the log by itself.
pub(crate) fn quiet() -> OpenOptions {
    OpenOptions { commit_interval: Duration::from_secs(3600), ..options() }
}

pub(crate) async fn open(store: &Store, options: OpenOptions) -> Arc<Volume> {
    Volume::open(Arc::clone(store), options).await.unwrap()
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text.as_bytes().to_vec()).unwrap()
}

/// Makes a file in the root, and opens it to write.
pub(crate) async fn make(volume: &Volume, called: &str) -> File {
    let ino = volume.make(Caller::ROOT, Ino::ROOT, &name(called), &REGULAR).await.unwrap().attr.ino;
    (ino, volume.open(ino, OpenFlags { write: true, ..OpenFlags::default() }).await.unwrap())
}

/// Opens a file of the root, to write too.
pub(crate) async fn find(volume: &Volume, called: &str) -> File {
    let ino = volume.lookup(Ino::ROOT, &name(called)).await.unwrap().attr.ino;
    (ino, volume.open(ino, OpenFlags { write: true, ..OpenFlags::default() }).await.unwrap())
}

pub(crate) async fn write(volume: &Volume, (ino, handle): File, offset: u64, data: impl Into<Bytes>) {
    volume.write(ino, handle, offset, data.into(), WriteFlags::default()).await.unwrap();
}

/// The content of a file, from its start to its end.
pub(crate) async fn content(volume: &Volume, (ino, handle): File) -> Vec<u8> {
    let size = volume.getattr(ino).await.unwrap().size;
    let mut content = Vec::new();
    while (content.len() as u64) < size {
        content.extend(volume.read(ino, handle, content.len() as u64, 1 << 20).await.unwrap().concat());
    }
    content
}

pub(crate) async fn assert_clean(volume: &Volume) {
    let report = volume.fsck(FsckOptions { data: true, repair: false }, &Silent).await.unwrap();
    assert_eq!(report.problems, [], "the volume is not clean");
}

/// Bytes that don't compress.
pub(crate) fn noise(seed: u64, len: usize) -> Bytes {
    let mut data = vec![0; len];
    StdRng::seed_from_u64(seed).fill_bytes(&mut data);
    data.into()
}
