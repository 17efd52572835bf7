//! Where written bytes go for which there is no memory: a local file without a name, which is gone with its process.

use bytes::{Bytes, BytesMut};
use std::fs::File;
use std::io::Error as IoError;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use stoa_vfs::{Error, Result};

/// The spill file of one file that is being written. A byte is at the same offset in both, so it is as sparse as what was spilled.
#[derive(Debug, Clone)]
pub(crate) struct Spill {
    dir: Arc<Path>,
    file: Arc<File>,
}

impl Spill {
    /// Makes an empty one in `dir`.
    ///
    /// # Errors
    /// [`Error::NoSpace`], whatever the reason: the log has it.
    pub(crate) async fn create(dir: &Arc<Path>) -> Result<Self> {
        let within = Arc::clone(dir);
        let file = blocking(move || tempfile::tempfile_in(within)).await.map_err(|error| no_room(dir, &error))?;
        Ok(Self { dir: Arc::clone(dir), file: Arc::new(file) })
    }

    /// Keeps pieces at their offsets.
    ///
    /// # Errors
    /// As [`Spill::create`].
    pub(crate) async fn write(&self, pieces: Vec<(u64, Bytes)>) -> Result<()> {
        let file = Arc::clone(&self.file);
        let write = move || pieces.iter().try_for_each(|(offset, data)| file.write_all_at(data, *offset));
        blocking(write).await.map_err(|error| no_room(&self.dir, &error))
    }

    /// The bytes of a range, all of which were written.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) async fn read(&self, range: Range<u64>) -> Result<Bytes> {
        let file = Arc::clone(&self.file);
        let read = move || {
            let len = usize::try_from(range.end - range.start).map_err(IoError::other)?;
            let mut bytes = BytesMut::zeroed(len);
            file.read_exact_at(&mut bytes, range.start).map(|()| bytes.freeze())
        };
        let dir = self.dir.display();
        blocking(read).await.map_err(|error| Error::Io(format!("reading what was written and kept in {dir}: {error}")))
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> std::io::Result<T> + Send + 'static) -> std::io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(IoError::other).and_then(|done| done)
}

/// What is written has nowhere to go, and so much is what a program is told.
fn no_room(dir: &Path, error: &IoError) -> Error {
    let dir = dir.display();
    tracing::error!(%error, "what is written does not fit into --memory, and can't be kept in {dir}: see to --cache-dir");
    Error::NoSpace
}
