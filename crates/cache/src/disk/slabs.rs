//! Writing entries into slabs, one slab at a time.

use std::io;

use parking_lot::Mutex;

use super::entry::{self, HEADER_BYTES, ROW_BYTES, Row, TRAILER_BYTES};
use super::files::Files;
use super::index::Index;
use crate::object::Key;

/// How large slabs are and how much there may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// No slab file gets larger, in bytes.
    pub(crate) slab_bytes: u64,
    pub(crate) slabs_max: u64,
    pub(crate) entries_max: u64,
}

impl Limits {
    /// Limits that keep all files within `bytes_max` and their index within `entries_max`.
    pub(crate) fn new(bytes_max: u64, entries_max: u64) -> Self {
        let slab_bytes = (bytes_max / 32).clamp(1 << 20, 64 << 20).min(bytes_max / 2);
        let slabs_max = bytes_max.checked_div(slab_bytes).unwrap_or(0);
        Self { slab_bytes, slabs_max, entries_max }
    }

    /// Whether a slab with so many entries and bytes has room for another payload and the table.
    fn has_room(&self, entries: usize, position: u64, payload: usize) -> bool {
        let table = (entries + 1) * ROW_BYTES + TRAILER_BYTES;
        position + (HEADER_BYTES + payload + table) as u64 <= self.slab_bytes
    }

    /// Whether a payload fits in an empty slab.
    pub(crate) fn admits(&self, payload: usize) -> bool {
        self.slabs_max > 0 && self.has_room(0, 0, payload)
    }
}

/// The slab that is being filled.
#[derive(Debug)]
pub(crate) struct Active {
    slab: u64,
    position: u64,
    rows: Vec<Row>,
}

impl Active {
    /// Begins a slab after all others, throwing out old ones to make room.
    pub(crate) fn begin(files: &dyn Files, index: &Mutex<Index>, limits: &Limits) -> io::Result<Self> {
        make_room(files, index, limits, 1)?;
        let mut index = index.lock();
        let slab = index.next_slab();
        index.add_slab(slab);
        Ok(Self { slab, position: 0, rows: Vec::new() })
    }

    pub(crate) fn has_room(&self, limits: &Limits, payload: usize) -> bool {
        limits.has_room(self.rows.len(), self.position, payload)
    }

    /// Writes an entry and lists it.
    pub(crate) fn put(&mut self, files: &dyn Files, index: &Mutex<Index>, key: &Key, payload: &[u8]) -> io::Result<()> {
        let too_large = |_| io::Error::from(io::ErrorKind::FileTooLarge);
        let len = u32::try_from(payload.len()).map_err(too_large)?;
        let position = u32::try_from(self.position).map_err(too_large)?;
        files.write(self.slab, self.position, &entry::header(key, payload, len))?;
        files.write(self.slab, self.position + HEADER_BYTES as u64, payload)?;
        let row = Row { fingerprint: entry::fingerprint(key), position, len };
        self.position += HEADER_BYTES as u64 + u64::from(len);
        self.rows.push(row);
        index.lock().add(self.slab, row);
        Ok(())
    }

    /// Ends the slab with its table, so that it is found again when the cache is next opened.
    pub(crate) fn seal(&self, files: &dyn Files) -> io::Result<()> {
        files.write(self.slab, self.position, &entry::table(&self.rows))
    }

    /// Gives the slab up, after a failure.
    pub(crate) fn abandon(self, files: &dyn Files, index: &Mutex<Index>) {
        index.lock().remove_slab(self.slab);
        // What can't be removed now has no table, and is removed when the cache is next opened.
        drop(files.remove(self.slab));
    }
}

/// Finds the slabs of an earlier run. Those that are damaged, unfinished or too many are removed.
pub(crate) fn load(files: &dyn Files, index: &Mutex<Index>, limits: &Limits) -> io::Result<()> {
    for (slab, len) in files.list()? {
        match read_table(files, slab, len)?.filter(|_| len <= limits.slab_bytes) {
            Some(rows) => {
                let mut index = index.lock();
                index.add_slab(slab);
                rows.into_iter().for_each(|row| index.add(slab, row));
            }
            None => files.remove(slab)?,
        }
        make_room(files, index, limits, 0)?;
    }
    Ok(())
}

/// Throws slabs out until so many more fit.
fn make_room(files: &dyn Files, index: &Mutex<Index>, limits: &Limits, more: u64) -> io::Result<()> {
    loop {
        let victim = {
            let mut index = index.lock();
            if index.slabs() + more <= limits.slabs_max && index.entries() + more <= limits.entries_max {
                return Ok(());
            }
            index.victim()
        };
        let Some(slab) = victim else { return Ok(()) };
        index.lock().remove_slab(slab);
        match files.remove(slab) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
}

fn read_table(files: &dyn Files, slab: u64, len: u64) -> io::Result<Option<Vec<Row>>> {
    let Some(trailer) = len.checked_sub(TRAILER_BYTES as u64) else {
        return Ok(None);
    };
    let Some(table) = entry::table_len(&files.read(slab, trailer, TRAILER_BYTES)?) else {
        return Ok(None);
    };
    let Some(position) = len.checked_sub(table as u64) else {
        return Ok(None);
    };
    Ok(entry::rows(&files.read(slab, position, table)?))
}
