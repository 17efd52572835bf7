//! Parts of a draft that are sent while it is written.

use super::{Draft, Sink};
use crate::error::told;
use crate::extents::Place;
use crate::layout::Cell;
use crate::parts::Parts;
use std::ops::Range;
use stoa_vfs::Result;

impl Draft {
    /// The parts of a range are not as they should be any more.
    pub(super) fn unsend(&mut self, sink: &Sink<'_>, range: Range<u64>) {
        if let (false, Some(first)) = (self.sent.is_empty(), sink.grid().cell_at(range.start)) {
            let last = sink.grid().cell_at(range.end.saturating_sub(1)).map_or(u32::MAX, |cell| cell.number);
            self.sent.retain(|number| !(first.number..=last).contains(number));
        }
    }

    /// Sends a cell, if all of it was written. Of a file that is longer than the grid nothing is: it is laid out anew at the end.
    pub(super) async fn send_early(&mut self, sink: &Sink<'_>, cell: Cell) -> Result<()> {
        let here = |place: &Place| matches!(place, Place::Held(_) | Place::Spilled);
        if !sink.grid().covers(self.size()) || self.begun.contains(&cell.number) {
            return Ok(());
        }
        if self.extents.any(cell.range.clone(), |place| !here(place)) {
            return Ok(());
        }
        let data = self.gather(sink, cell.range.clone()).await?;
        let before = self.extents.held();
        let loan = match self.returns || cell.range.start == 0 {
            // Programs come back to the head of a file to say how long it has become.
            true => None,
            false => {
                self.extents.set(cell.range.clone(), Place::Sent);
                let freed = before - self.extents.held();
                self.held.as_mut().map(|held| held.split(freed))
            }
        };
        self.parts(sink).await?.send(cell.number, data, loan).await.map_err(told)?;
        self.begun.insert(cell.number);
        self.sent.insert(cell.number);
        Ok(())
    }

    pub(super) async fn parts(&mut self, sink: &Sink<'_>) -> Result<&mut Parts> {
        let parts = match self.parts.take() {
            Some(parts) => Ok(parts),
            None if self.extents.any(0..self.size(), |place| matches!(place, Place::Kept)) => {
                Parts::begin_copies(sink.s3, &self.key, &self.headers, sink.traffic).await
            }
            None => Parts::begin(sink.s3, &self.key, &self.headers, sink.traffic).await,
        };
        Ok(self.parts.insert(parts.map_err(told)?))
    }
}

#[cfg(test)]
mod tests;
