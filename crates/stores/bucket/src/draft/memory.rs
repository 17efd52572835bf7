//! Where a draft keeps what was written: in memory, as far as there is any, and then in the spill file.

use super::{Draft, Sink};
use crate::error::told;
use crate::extents::Place;
use crate::spill::Spill;
use bytes::Bytes;
use std::ops::Range;
use stoa_vfs::Result;

/// So many parts of other files are waited for before the disk is used.
const OTHERS_MAX: u32 = 16;

impl Draft {
    /// Takes memory for `bytes` more. Where there is none, parts on their way are waited for, those of other files for a while, and then
    /// what is in memory goes into the spill file; `false` if even that does not help, as others have it all.
    pub(super) async fn room(&mut self, sink: &Sink<'_>, bytes: u64) -> Result<bool> {
        let mut waited = 0;
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
            if waited < OTHERS_MAX && sink.traffic.arrive().await {
                waited += 1;
                continue;
            }
            if !self.spill_held(sink).await? {
                return Ok(false);
            }
        }
    }

    /// Puts what is in memory into the spill file: what was sent, if there is any, and otherwise all; `false` if there is nothing.
    async fn spill_held(&mut self, sink: &Sink<'_>) -> Result<bool> {
        let held = |(range, place)| match place {
            Place::Held(data) => Some((range, data)),
            _ => None,
        };
        let grid = sink.grid();
        let all: Vec<(Range<u64>, Bytes)> = self.extents.runs(0..u64::MAX).into_iter().filter_map(held).collect();
        let is_sent =
            |range: &Range<u64>| grid.cell_at(range.start).is_some_and(|cell| self.sent.contains(&cell.number));
        let (sent, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|(range, _)| is_sent(range));
        let pieces = if sent.is_empty() { rest } else { sent };
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
