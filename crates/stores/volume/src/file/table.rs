//! The files in use.

use super::File;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use stoa_vfs::{Ino, Result};

/// Every [`File`] in use, by inode. Handles, dirty layers and running operations hold them; the table does not.
#[derive(Debug, Default)]
pub(crate) struct Files {
    files: Mutex<HashMap<Ino, Weak<File>>>,
    dirty: Mutex<HashMap<Ino, Arc<File>>>,
}

impl Files {
    /// The file, if it is in use.
    pub(crate) fn find(&self, ino: Ino) -> Option<Arc<File>> {
        self.files.lock().get(&ino).and_then(Weak::upgrade)
    }

    /// The file, from now on in use; `size` finds what size was published, if nobody used it before.
    pub(crate) async fn get(&self, ino: Ino, size: impl Future<Output = Result<u64>>) -> Result<Arc<File>> {
        let file = {
            let mut files = self.files.lock();
            match files.get(&ino).and_then(Weak::upgrade) {
                Some(file) => file,
                None => {
                    if files.len() == files.capacity() {
                        files.retain(|_, file| file.strong_count() > 0);
                    }
                    let file = Arc::new(File::new(ino));
                    files.insert(ino, Arc::downgrade(&file));
                    file
                }
            }
        };
        file.get_ready(size).await?;
        Ok(file)
    }

    /// Keeps a file until [`Files::cleaned`], because it has something to publish.
    pub(crate) fn dirtied(&self, file: &Arc<File>) {
        self.dirty.lock().entry(file.ino).or_insert_with(|| Arc::clone(file));
    }

    /// Lets go of a file that has nothing to publish any more.
    pub(crate) fn cleaned(&self, file: &File) {
        let mut dirty = self.dirty.lock();
        if !file.lock().is_dirty() {
            dirty.remove(&file.ino);
        }
    }

    /// All files that have something to publish.
    pub(crate) fn all_dirty(&self) -> Vec<Arc<File>> {
        self.dirty.lock().values().cloned().collect()
    }

    /// Whether none has.
    pub(crate) fn is_clean(&self) -> bool {
        self.dirty.lock().is_empty()
    }

    /// Lets go of a file that lost its last name and its last user: what it had to publish is of no use.
    pub(crate) fn drop_file(&self, ino: Ino) {
        self.dirty.lock().remove(&ino);
    }
}
