//! Packing: layers are cut into frames, frames compressed on all cores, segments filled with them.

use super::{Home, INLINE_BYTES, Item, Log, Packed, Parcel};
use crate::cleaning::Move;
use crate::file::{File, Frozen, Piece};
use crate::segment::{Builder, Encoded, FRAME_BYTES, encode};
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use stoa_meta::{Content, Extent, FileUpdate, Run, SegmentId};
use stoa_vfs::Ino;
use tokio::sync::mpsc::Sender;
use tokio::task::JoinHandle;

/// Frames that one compression task takes.
const FRAMES_PER_TASK: usize = 8;

/// No more data than this is compressed where it is: a trip to another thread costs more.
const ENCODED_HERE_BYTES: usize = 32 << 10;

/// Compression tasks under way at once.
const TASKS_MAX: usize = 4;

/// File data for one frame: where it is in the file, and its bytes.
pub(super) type Cut = (u64, Vec<Bytes>);

/// The segment being filled, and what to publish when it has arrived.
struct Packer<'a> {
    log: &'a Log,
    builder: Builder,
    parcels: Vec<Parcel>,
    packed: Sender<Packed>,
    /// There are frames in the segment.
    used: bool,
    /// The segment in which the first frame is that no parcel names yet.
    unnamed: Option<SegmentId>,
}

impl Log {
    /// Packs whatever is submitted, until the publisher is gone.
    pub(super) async fn pack_all(self: Arc<Self>, packed: Sender<Packed>) {
        let mut packer =
            Packer { builder: self.new_builder(), log: &self, parcels: Vec::new(), packed, used: false, unnamed: None };
        loop {
            let item = self.queue.lock().pop_front();
            let done = match item {
                Some(Item::Layer(file, frozen, home)) => packer.pack_layer(file, frozen, home).await,
                Some(Item::Move(moved)) => packer.pack_move(moved).await,
                Some(Item::Barrier(reached)) => packer.flush(Some(reached)).await,
                None => {
                    self.queued.notified().await;
                    true
                }
            };
            if !done {
                return;
            }
        }
    }
}

/// Its methods return whether to go on.
impl Packer<'_> {
    async fn pack_layer(&mut self, file: Arc<File>, frozen: Arc<Frozen>, home: Home) -> bool {
        let Some(extents) = (if home == Home::Namespace && frozen.layer.data_bytes() <= INLINE_BYTES {
            Some(inline_extents(&frozen))
        } else {
            self.store_layer(file.ino, &frozen).await
        }) else {
            return false;
        };
        let update = FileUpdate { ino: file.ino, extents, size: frozen.size, modified: None };
        self.parcels.push(Parcel::Layer { file, frozen, update });
        self.unnamed = None;
        self.seal_full().await
    }

    async fn pack_move(&mut self, moved: Move) -> bool {
        let Some(new) = self.store_cuts(moved.ino, cut(moved.offset, &moved.data)).await else { return false };
        self.parcels.push(Parcel::Move { moved, new });
        self.unnamed = None;
        self.seal_full().await
    }

    async fn store_layer(&mut self, ino: Ino, frozen: &Frozen) -> Option<Vec<Extent>> {
        let mut extents = Vec::new();
        for run in data_runs(frozen) {
            match run {
                DataRun::Hole(range) => extents.push(crate::hole(range)),
                DataRun::Data(offset, parts) => extents.extend(self.store_cuts(ino, cut(offset, &parts)).await?),
            }
        }
        Some(extents)
    }

    /// Stores a stretch of data in the segment being filled, and the next ones; returns the extents that name it. Where it can, it stays in
    /// one segment, and one request reads it.
    async fn store_cuts(&mut self, ino: Ino, cuts: Vec<Cut>) -> Option<Vec<Extent>> {
        if !self.seal_full().await {
            return None;
        }
        let bytes: usize = cuts.iter().flat_map(|(_, parts)| parts).map(Bytes::len).sum();
        let small = bytes <= ENCODED_HERE_BYTES;
        let mut extents: Vec<Extent> = Vec::new();
        let mut cuts = cuts.into_iter().peekable();
        while let Some((offset, parts)) = cuts.next_if(|_| small) {
            self.add(ino, offset, encode(parts, self.log.compression_level), &mut extents).await?;
        }
        let mut tasks: VecDeque<JoinHandle<Vec<(u64, Encoded)>>> = VecDeque::new();
        loop {
            while tasks.len() < TASKS_MAX && cuts.peek().is_some() {
                let group: Vec<Cut> = cuts.by_ref().take(FRAMES_PER_TASK).collect();
                let level = self.log.compression_level;
                let encode_group =
                    move || group.into_iter().map(|(offset, parts)| (offset, encode(parts, level))).collect();
                tasks.push_back(tokio::task::spawn_blocking(encode_group));
            }
            let Some(task) = tasks.pop_front() else { return Some(extents) };
            for (offset, encoded) in task.await.ok()? {
                self.add(ino, offset, encoded, &mut extents).await?;
            }
        }
    }

    /// Adds a frame to the segment being filled, and what names it to `extents`. `None` when the log is closed.
    async fn add(&mut self, ino: Ino, offset: u64, encoded: Encoded, extents: &mut Vec<Extent>) -> Option<()> {
        if self.builder.is_overfull() && !self.seal().await {
            return None;
        }
        self.used = true;
        self.unnamed.get_or_insert(self.builder.id());
        let frame = encoded.frame;
        let stored_offset = self.builder.add(ino, offset, encoded);
        let run = Run { segment: self.builder.id(), stored_offset, skip: 0, frames: vec![frame] };
        append(extents, Extent { offset, len: u64::from(frame.data_len), content: Content::Stored(run) });
        Some(())
    }

    /// Sends what there is on its way, and then tells `reached`.
    async fn flush(&mut self, reached: Option<tokio::sync::oneshot::Sender<()>>) -> bool {
        let sent = if self.used {
            self.seal().await
        } else if self.parcels.is_empty() {
            true
        } else {
            let parcels = std::mem::take(&mut self.parcels);
            self.packed.send(Packed::Parcels(parcels)).await.is_ok()
        };
        match reached {
            Some(reached) => sent && self.packed.send(Packed::Barrier(reached)).await.is_ok(),
            None => sent,
        }
    }

    /// Seals the segment if it is as large as segments are.
    async fn seal_full(&mut self) -> bool {
        !self.builder.is_full() || self.seal().await
    }

    /// Starts the upload of the segment, and the next segment. Waits while as many as may are under way.
    async fn seal(&mut self) -> bool {
        let builder = std::mem::replace(&mut self.builder, self.log.new_builder());
        let parcels = std::mem::take(&mut self.parcels);
        self.used = false;
        let Some(upload) = self.log.upload(builder.seal()).await else { return false };
        let settled = self.unnamed.unwrap_or(self.builder.id());
        self.packed.send(Packed::Segment { upload, parcels, settled }).await.is_ok()
    }
}

/// Adds an extent to a list, as part of the last one if it goes on where that ends, in the file and in the segment.
fn append(extents: &mut Vec<Extent>, extent: Extent) {
    if let (Some(last), Content::Stored(run)) = (extents.last_mut(), &extent.content)
        && last.end() == extent.offset
        && let Content::Stored(before) = &mut last.content
        && before.segment == run.segment
        && u64::from(before.stored_offset) + before.stored_len() == u64::from(run.stored_offset)
    {
        before.frames.extend_from_slice(&run.frames);
        last.len += extent.len;
        return;
    }
    extents.push(extent);
}

/// A run of one kind in a layer.
enum DataRun {
    Hole(Range<u64>),
    /// Data without a gap, from this offset on.
    Data(u64, Vec<Bytes>),
}

/// The pieces of a layer, with neighbouring data joined, without what lies beyond the size.
fn data_runs(frozen: &Frozen) -> Vec<DataRun> {
    let mut runs: Vec<DataRun> = Vec::new();
    let mut next = 0;
    for (range, piece) in frozen.layer.within(0..frozen.size) {
        match (piece, runs.last_mut()) {
            (Piece::Data(bytes), Some(DataRun::Data(_, parts))) if range.start == next => parts.push(bytes),
            (Piece::Data(bytes), _) => runs.push(DataRun::Data(range.start, vec![bytes])),
            (Piece::Hole(_), _) => runs.push(DataRun::Hole(range.clone())),
        }
        next = range.end;
    }
    runs
}

/// The extents of a layer whose data live in the namespace.
pub(crate) fn inline_extents(frozen: &Frozen) -> Vec<Extent> {
    let extent = |run| match run {
        DataRun::Hole(range) => crate::hole(range),
        DataRun::Data(offset, parts) => {
            let mut all = BytesMut::new();
            parts.iter().for_each(|part| all.extend_from_slice(part));
            let len = u64::try_from(all.len()).unwrap_or(u64::MAX);
            Extent { offset, len, content: Content::Inline(all.freeze()) }
        }
    };
    data_runs(frozen).into_iter().map(extent).collect()
}

/// Cuts data that starts at `offset` of a file into frames, at multiples of [`FRAME_BYTES`] in the file.
fn cut(mut offset: u64, parts: &[Bytes]) -> Vec<Cut> {
    let mut cuts: Vec<Cut> = Vec::new();
    for part in parts {
        let mut rest = part.clone();
        while !rest.is_empty() {
            let room = usize::try_from(FRAME_BYTES - offset % FRAME_BYTES).unwrap_or(usize::MAX);
            let piece = rest.split_to(room.min(rest.len()));
            let len = u64::try_from(piece.len()).unwrap_or(0);
            match cuts.last_mut() {
                Some((_, pieces)) if !offset.is_multiple_of(FRAME_BYTES) => pieces.push(piece),
                _ => cuts.push((offset, vec![piece])),
            }
            offset += len;
        }
    }
    cuts
}

#[cfg(test)]
mod tests;
