//! Directory entries, kept by the hash of their names.

use super::{Malformed, Reader, Writer};
use ::bytes::Bytes;
use stoa_vfs::{Cookie, Ino, Kind, Name};

const VERSION: u8 = 1;

/// How many names of one directory can share a hash.
pub const SLOTS_MAX: u16 = 1 << 15;

/// Bits of a cookie that tell apart entries with one hash.
const SLOT_BITS: u32 = 15;

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dentry {
    /// Which of the entries with its hash it is: stable as long as it exists, so that its cookie is.
    pub slot: u16,
    /// The inode it names.
    pub ino: Ino,
    /// What that is.
    pub kind: Kind,
    /// The name.
    pub name: Name,
}

/// All entries of a directory whose names have one hash: nearly always one, or none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bucket {
    /// The entries, by slot.
    pub dentries: Vec<Dentry>,
}

impl Bucket {
    /// The entry called `name`.
    #[must_use]
    pub fn find(&self, name: &Name) -> Option<&Dentry> {
        self.dentries.iter().find(|dentry| dentry.name == *name)
    }

    /// The bucket with `name` naming `ino`, instead of what it named.
    ///
    /// # Errors
    /// `None` when all [`SLOTS_MAX`] slots are taken.
    #[must_use]
    pub fn with(&self, name: &Name, ino: Ino, kind: Kind) -> Option<Self> {
        let mut dentries = self.dentries.clone();
        if let Some(dentry) = dentries.iter_mut().find(|dentry| dentry.name == *name) {
            (dentry.ino, dentry.kind) = (ino, kind);
            return Some(Self { dentries });
        }
        let slot = (0..SLOTS_MAX).find(|slot| dentries.iter().all(|dentry| dentry.slot != *slot))?;
        let at = dentries.partition_point(|dentry| dentry.slot < slot);
        dentries.insert(at, Dentry { slot, ino, kind, name: name.clone() });
        Some(Self { dentries })
    }

    /// The bucket without `name`.
    #[must_use]
    pub fn without(&self, name: &Name) -> Self {
        Self { dentries: self.dentries.iter().filter(|dentry| dentry.name != *name).cloned().collect() }
    }

    /// The record, or `None` for an empty bucket, which has none.
    #[must_use]
    pub fn encode(&self) -> Option<Bytes> {
        if self.dentries.is_empty() {
            return None;
        }
        let mut out = Writer::new(VERSION);
        for dentry in &self.dentries {
            let name = dentry.name.as_bytes();
            out.u16(dentry.slot);
            out.u64(dentry.ino.0);
            out.u32(dentry.kind.mode_bits());
            out.u8(u8::try_from(name.len()).unwrap_or(u8::MAX));
            out.raw(name);
        }
        Some(out.finish())
    }

    /// Reads a record.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn decode(value: Bytes) -> Result<Self, Malformed> {
        let mut from = Reader::new(value, VERSION)?;
        let mut dentries = Vec::with_capacity(1);
        loop {
            let slot = from.u16()?;
            let ino = Ino(from.u64()?);
            let kind = Kind::from_mode(from.u32()?).ok_or(Malformed("an entry of an unknown kind"))?;
            let len = from.u8()?;
            // Of its own: the record may be a slice of much more, and the name stays in memory longer.
            let name = Bytes::copy_from_slice(&from.raw(usize::from(len))?);
            let name = Name::new(name).map_err(|_| Malformed("an entry with a bad name"))?;
            if slot >= SLOTS_MAX {
                return Err(Malformed("an entry with a bad slot"));
            }
            dentries.push(Dentry { slot, ino, kind, name });
            if from.is_empty() {
                return Ok(Self { dentries });
            }
        }
    }
}

impl Dentry {
    /// Its place in a directory where its name has `hash`.
    #[must_use]
    pub fn cookie(&self, hash: u64) -> Cookie {
        Cookie((hash << SLOT_BITS) | u64::from(self.slot))
    }

    /// The hash part of a cookie: entries after the cookie have this hash or a greater one.
    #[must_use]
    pub fn hash_of(cookie: Cookie) -> u64 {
        cookie.0 >> SLOT_BITS
    }
}
