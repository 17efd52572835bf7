//! The bytes of a slab: entries, one after the other, then a table of them.
//!
//! All numbers are little-endian. An entry is a header of 48 bytes and the stored bytes of one piece:
//! `magic u32, len u32, object u128, offset u64, payload crc u64, header crc u64`. A full slab ends with its table:
//! `(fingerprint u64, position u32, len u32)` for each entry, then `magic u32, count u32, table crc u64`. The checksums
//! are CRC64/NVME. A slab without a good table is thrown away when the cache is opened; a header that names another
//! piece than the one looked for, or a checksum that does not match, is a miss.

use crc_fast::crc64_nvme;

use crate::object::Key;

/// What the header of an entry takes, in bytes.
pub(crate) const HEADER_BYTES: usize = 48;
/// What one row of the table takes, in bytes.
pub(crate) const ROW_BYTES: usize = 16;
/// What ends the table, in bytes.
pub(crate) const TRAILER_BYTES: usize = 16;

const ENTRY_MAGIC: u32 = u32::from_le_bytes(*b"Ste1");
const TABLE_MAGIC: u32 = u32::from_le_bytes(*b"Stt1");

/// One entry of a slab, as its table has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) fingerprint: u64,
    /// Where the entry's header begins, in bytes from the slab's start.
    pub(crate) position: u32,
    /// How many bytes the payload has.
    pub(crate) len: u32,
}

/// A short name for a key. Two keys can share one; the entry's header tells them apart.
pub(crate) fn fingerprint(key: &Key) -> u64 {
    let mut bytes = Vec::with_capacity(24);
    bytes.extend_from_slice(&key.0.to_le_bytes());
    bytes.extend_from_slice(&key.1.to_le_bytes());
    crc64_nvme(&bytes)
}

/// The header of an entry.
pub(crate) fn header(key: &Key, payload: &[u8], len: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    bytes.extend_from_slice(&ENTRY_MAGIC.to_le_bytes());
    bytes.extend_from_slice(&len.to_le_bytes());
    bytes.extend_from_slice(&key.0.to_le_bytes());
    bytes.extend_from_slice(&key.1.to_le_bytes());
    bytes.extend_from_slice(&crc64_nvme(payload).to_le_bytes());
    bytes.extend_from_slice(&crc64_nvme(&bytes).to_le_bytes());
    bytes
}

/// Whether an entry as read from a slab is whole and is the one looked for.
pub(crate) fn is_intact(entry: &[u8], key: &Key, len: u32) -> bool {
    // The header follows from the key and the payload, so it is right exactly when it is what would be written now.
    match entry.split_at_checked(HEADER_BYTES) {
        Some((found, payload)) => payload.len() as u64 == u64::from(len) && found == header(key, payload, len),
        None => false,
    }
}

/// The table that ends a full slab.
pub(crate) fn table(rows: &[Row]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(rows.len() * ROW_BYTES + TRAILER_BYTES);
    for row in rows {
        bytes.extend_from_slice(&row.fingerprint.to_le_bytes());
        bytes.extend_from_slice(&row.position.to_le_bytes());
        bytes.extend_from_slice(&row.len.to_le_bytes());
    }
    bytes.extend_from_slice(&TABLE_MAGIC.to_le_bytes());
    bytes.extend_from_slice(&u32::try_from(rows.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(&crc64_nvme(&bytes).to_le_bytes());
    bytes
}

/// How many bytes the table takes, when this is how a slab ends.
pub(crate) fn table_len(trailer: &[u8]) -> Option<usize> {
    let trailer: &[u8; TRAILER_BYTES] = trailer.try_into().ok()?;
    let (magic, rest) = trailer.split_first_chunk()?;
    let (count, _) = rest.split_first_chunk()?;
    if u32::from_le_bytes(*magic) != TABLE_MAGIC {
        return None;
    }
    let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
    count.checked_mul(ROW_BYTES)?.checked_add(TRAILER_BYTES)
}

/// The rows of a table, or nothing when it is damaged.
pub(crate) fn rows(table: &[u8]) -> Option<Vec<Row>> {
    let (checked, crc) = table.split_last_chunk::<8>()?;
    if u64::from_le_bytes(*crc) != crc64_nvme(checked) {
        return None;
    }
    let rows = checked.get(..checked.len().checked_sub(8)?)?;
    rows.chunks(ROW_BYTES).map(row).collect()
}

fn row(bytes: &[u8]) -> Option<Row> {
    let (fingerprint, rest) = bytes.split_first_chunk()?;
    let (position, rest) = rest.split_first_chunk()?;
    let len = rest.first_chunk()?;
    Some(Row {
        fingerprint: u64::from_le_bytes(*fingerprint),
        position: u32::from_le_bytes(*position),
        len: u32::from_le_bytes(*len),
    })
}

#[cfg(test)]
mod tests;
