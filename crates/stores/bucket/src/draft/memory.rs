//! Where a draft keeps what was written: in memory, as far as there is any, and then in the spill file.

use super::{Draft, Sink};
use crate::error::told;
use crate::extents::Place;
use crate::spill::Spill;
use bytes::Bytes;
use std::ops::Range;
use stoa_vfs::Result;

impl Draft {
    /// Takes memory for `bytes` more. Where there is none, parts on their way are waited for, and then what is in memory goes into the
    /// spill file; `false` if even that does not help, as others have it all.
    pub(super) async fn room(&mut self, sink: &Sink<'_>, bytes: u64) -> Result<bool> {
        loop {
            if let Some(more) = sink.budget.try_reserve(bytes) {
                match &mut self.held {
                    // Of the same budget, so nothing comes back.
                    Some(held) => drop(held.merge(more)),
                    None => self.held = Some(more),
                }
                return Ok(true);
            }
            if let Some(parts) = &mut self.parts
                && parts.arrive().await.map_err(told)?
            {
                continue;
            }
            if !self.spill_all(sink).await? {
                return Ok(false);
            }
        }
    }

    /// Puts all that is in memory into the spill file; `false` if there is nothing.
    async fn spill_all(&mut self, sink: &Sink<'_>) -> Result<bool> {
        let held = |(range, place)| match place {
            Place::Held(data) => Some((range, data)),
            _ => None,
        };
        let pieces: Vec<(Range<u64>, Bytes)> = self.extents.runs(0..u64::MAX).into_iter().filter_map(held).collect();
        if pieces.is_empty() {
            return Ok(false);
        }
        let data = pieces.iter().map(|(range, data)| (range.start, data.clone())).collect();
        self.spill(sink).await?.write(data).await?;
        for (range, _) in pieces {
            self.extents.set(range, Place::Spilled);
        }
        self.shrink();
        Ok(true)
    }

    pub(super) async fn spill(&mut self, sink: &Sink<'_>) -> Result<&Spill> {
        let spill = match self.spill.take() {
            Some(spill) => spill,
            None => Spill::create(sink.spill_dir).await?,
        };
        Ok(self.spill.insert(spill))
    }

    /// Gives back memory that is not used any more.
    pub(super) fn shrink(&mut self) {
        if let Some(held) = &mut self.held {
            held.shrink(self.extents.held());
        }
    }
}
