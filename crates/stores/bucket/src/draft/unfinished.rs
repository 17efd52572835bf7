//! Files that are still being written when the mount ends.

use super::{Draft, Sink};
use crate::extents::Place;
use std::sync::Arc;
use stoa_vfs::{Error, Result};

/// What became of what was written to a file.
#[derive(Debug)]
pub(crate) enum Ended {
    /// Nothing had been written.
    Nothing,
    /// It had been emptied, and maybe closed after that. What it was to replace is as it was.
    Emptied,
    /// It is in the store, and took the place of nothing that it does not go on with.
    Stored,
    /// It is in the store under this key, and what it was to replace is as it was.
    Beside(Arc<str>),
}

impl Draft {
    /// Whether somebody may be in the middle of writing it. One that was only made is not, once it was closed. Of one that was emptied
    /// nothing tells whether the descriptor was the last: what it replaces is not lost for that.
    pub(crate) fn is_being_written(&self) -> bool {
        let begun = self.filled || !self.closed || self.replaces.is_some();
        self.writers > 0 && self.dirty && !self.discarded && begun
    }

    /// A descriptor of it was closed.
    pub(crate) fn is_closed(&mut self) {
        self.closed = true;
    }

    /// Puts what was written so far into the store. Only its writer knows whether it is whole, and it can't be asked any more: so nothing
    /// that is in the store goes for it.
    ///
    /// # Errors
    /// It is not in the store.
    pub(crate) async fn end(&mut self, sink: &Sink<'_>) -> Result<Ended> {
        self.check()?;
        if self.replaces.is_some() && !self.filled {
            self.end_writing().await;
            return Ok(if self.closed { Ended::Emptied } else { Ended::Nothing });
        }
        if self.goes_on() {
            return Ok(self.publish(sink).await?.map_or(Ended::Nothing, |_| Ended::Stored));
        }
        let beside = self.keep_unfinished(sink).await;
        self.end_writing().await;
        beside.map(Ended::Beside)
    }

    /// Nothing more gets into the store: who still writes is told.
    async fn end_writing(&mut self) {
        self.give_up().await;
        self.failed = Some(Error::Io("the mount has ended".into()));
    }

    /// Whether all is in it that was in what it replaces, and more after that.
    fn goes_on(&mut self) -> bool {
        let Some(replaced) = self.replaces.as_ref().map(|replaced| replaced.size) else { return true };
        self.size() >= replaced && !self.extents.any(0..replaced, |place| *place != Place::Kept)
    }

    async fn keep_unfinished(&mut self, sink: &Sink<'_>) -> Result<Arc<str>> {
        let key = Arc::clone(&self.key);
        self.word = "unfinished";
        if !self.is_sent(0..u64::MAX) {
            match self.make_beside(sink, &key, "").await {
                // What it keeps of the content before is gone.
                Err(Error::Stale) => {}
                made => return made,
            }
        }
        self.keep_beside(sink).await.map(|(beside, _)| beside)
    }
}
