//! Opening a file to read it: is its content still there?
//!
//! A name is believed for a while, and so may stand for a content that has been replaced meanwhile. Who opens it then is to get what is
//! there now. A read can't give it that, as it would be another file; an open can, as the kernel looks the name up once more when an open
//! is answered with [`Error::Stale`]. So the request that finds out is made at the open, and it is the one that the first read would
//! make: who then reads finds in the cache what it fetched.

use crate::bucket::Bucket;
use crate::draft::Draft;
use crate::error::told_of_read;
use crate::found::Version;
use crate::inodes::Node;
use crate::reading::content;
use crate::source::{Raw, pieces};
use std::sync::Arc;
use stoa_vfs::{Error, Result};

/// A file of at most so many bytes is fetched whole, by one GET: its first read, and what is read ahead of that, are as much.
const WHOLE_BYTES_MAX: u64 = 1 << 20;

/// Of a longer one, as much as the kernel asks for first when it is read in order. Who reads elsewhere has made a request more than without;
/// a HEAD in its place would be one more for everyone.
const START_BYTES: u64 = 256 << 10;

impl Bucket {
    /// Makes sure that the store still has a content that is opened to be read, unless it has been read here before: then the kernel and the
    /// cache may have all of it, and opening it again costs nothing.
    ///
    /// # Errors
    /// [`Error::Stale`], and the next look at its name asks the store; what its first read would fail with.
    pub(crate) async fn make_sure(&self, node: &Node) -> Result<()> {
        loop {
            let version = node.version()?;
            if node.has_seen(&version) || version.size == 0 || version.draft > 0 || is_written(node) {
                return Ok(());
            }
            match self.fetch_start(&version).await {
                Ok(()) => {
                    node.sees(version);
                    return Ok(());
                }
                // What was written here has been stored meanwhile or just now, or it was renamed. In this order: who stores it says so
                // before the lock is free.
                Err(Error::Stale) if is_written(node) || node.version()? != version => {}
                Err(Error::Stale) => {
                    node.went_stale();
                    self.changed(&version.key);
                    return Err(Error::Stale);
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn fetch_start(&self, version: &Version) -> Result<()> {
        let len = if version.size <= WHOLE_BYTES_MAX { version.size } else { START_BYTES };
        let wanted = pieces(0..len, version.size);
        let fetched = self.cache.read(&content(version)?, &wanted, Arc::new(Raw)).await;
        fetched.map(drop).map_err(|error| told_of_read(&error))
    }
}

/// Whether there is something written to it that the store does not have yet: reads see that. Who holds the lock is at it, and is not waited
/// for: a rename holds it, and waits itself for all who are looking.
fn is_written(node: &Node) -> bool {
    node.draft.try_lock().map_or(true, |draft| draft.as_ref().is_some_and(Draft::is_dirty))
}
