//! Reading what is being written.

use super::Draft;
use super::assemble::zeros;
use crate::extents::Place;
use crate::found::Version;
use crate::spill::Spill;
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// Where some bytes of a file are that is being written.
#[derive(Debug)]
pub(crate) enum Seen {
    /// Here.
    Here(Vec<Bytes>),
    /// In the spill file.
    Spilled(Spill, Range<u64>),
    /// In a content that is in the store.
    Stored(Version, Range<u64>),
}

impl Draft {
    /// Whether its name is gone, and with it what was written.
    pub(crate) fn is_discarded(&self) -> bool {
        self.discarded
    }

    /// Where the bytes of a range are, as far as it lies in the file; `None` if only the upload has any of them.
    pub(crate) fn view(&mut self, range: Range<u64>) -> Option<Vec<Seen>> {
        let runs = self.extents.runs(range);
        runs.into_iter().map(|(run, place)| self.seen(run, place)).collect()
    }

    fn seen(&self, run: Range<u64>, place: Place) -> Option<Seen> {
        match place {
            Place::Held(bytes) => Some(Seen::Here(vec![bytes])),
            Place::Zeros => Some(Seen::Here(zeros(run.end - run.start).collect())),
            Place::Spilled => Some(Seen::Spilled(self.spill.clone()?, run)),
            Place::Kept => {
                let replaced = self.replaces.as_ref()?;
                let (key, etag) = (Arc::clone(&replaced.key), Some(Arc::clone(&replaced.etag)));
                Some(Seen::Stored(Version { key, etag, size: replaced.size, draft: 0 }, run))
            }
            Place::Sent => None,
        }
    }
}
