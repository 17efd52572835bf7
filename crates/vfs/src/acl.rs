//! POSIX access control lists (acl(5)): their binary form, and what they do to mode bits.
//!
//! Pure rules that every store shares; the meaning is that of Linux (`fs/posix_acl.c`), so that a list behaves the same
//! on a store as on ext4.

use crate::{Error, Result};
use bytes::{BufMut, Bytes, BytesMut};

#[cfg(test)]
mod tests;

/// The name of the extended attribute that holds who may access a file.
pub const ACL_ACCESS: &[u8] = b"system.posix_acl_access";
/// The name of the extended attribute that holds what new files of a directory inherit.
pub const ACL_DEFAULT: &[u8] = b"system.posix_acl_default";

const VERSION: u32 = 2;
const ENTRY_BYTES: usize = 8;
/// As many as fit into the largest value an extended attribute can have.
const ENTRIES_MAX: usize = 8191;
/// The id of entries that name nobody.
const NO_ID: u32 = u32::MAX;

/// Whom an entry of an [`Acl`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AclTag {
    /// The file's owner.
    Owner,
    /// This user.
    User(u32),
    /// The file's group.
    OwningGroup,
    /// This group.
    Group(u32),
    /// The most that users, groups and the owning group can get.
    Mask,
    /// Everybody else.
    Other,
}

impl AclTag {
    fn code(self) -> u16 {
        match self {
            Self::Owner => 0x01,
            Self::User(_) => 0x02,
            Self::OwningGroup => 0x04,
            Self::Group(_) => 0x08,
            Self::Mask => 0x10,
            Self::Other => 0x20,
        }
    }

    fn id(self) -> u32 {
        match self {
            Self::User(id) | Self::Group(id) => id,
            _ => NO_ID,
        }
    }

    fn decode(code: u16, id: u32) -> Result<Self> {
        let tag = match code {
            0x01 => Self::Owner,
            0x02 => Self::User(id),
            0x04 => Self::OwningGroup,
            0x08 => Self::Group(id),
            0x10 => Self::Mask,
            0x20 => Self::Other,
            _ => return Err(Error::Invalid("ACL entry has an unknown tag")),
        };
        if id == NO_ID && matches!(tag, Self::User(_) | Self::Group(_)) {
            return Err(Error::Invalid("ACL entry names nobody"));
        }
        Ok(tag)
    }
}

/// One entry of an [`Acl`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AclEntry {
    /// Whom it is about.
    pub tag: AclTag,
    /// What they may do: three bits, `rwx`.
    pub permissions: u16,
}

/// A valid access control list: owner, owning group and other once each, in the kernel's order, and a mask if it names anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acl {
    entries: Vec<AclEntry>,
}

/// What a new inode gets from the default ACL of its directory: see [`Acl::inherit`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inherited {
    /// The mode it gets.
    pub mode: u32,
    /// Its access ACL, if it needs one.
    pub access: Option<Acl>,
    /// Its default ACL, if it is a directory.
    pub default: Option<Acl>,
}

impl Acl {
    /// Takes `entries` as a list.
    ///
    /// # Errors
    /// [`Error::Invalid`] if they break a rule of acl(5).
    pub fn new(entries: Vec<AclEntry>) -> Result<Self> {
        check(&entries)?;
        Ok(Self { entries })
    }

    /// Reads the value of an ACL attribute (version 2). `None` is a list without entries, which stands for removing it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for another version, [`Error::Invalid`] for anything that is no valid list.
    pub fn parse(value: &[u8]) -> Result<Option<Self>> {
        if value.is_empty() {
            return Ok(None);
        }
        let (version, body) = value.split_first_chunk::<4>().ok_or(Error::Invalid("ACL is cut short"))?;
        if u32::from_le_bytes(*version) != VERSION {
            return Err(Error::Unsupported("ACL version"));
        }
        if !body.len().is_multiple_of(ENTRY_BYTES) || body.len() / ENTRY_BYTES > ENTRIES_MAX {
            return Err(Error::Invalid("ACL has a wrong length"));
        }
        if body.is_empty() {
            return Ok(None);
        }
        let entries = body.chunks_exact(ENTRY_BYTES).map(decode_entry).collect::<Result<Vec<_>>>()?;
        Self::new(entries).map(Some)
    }

    /// The value of an ACL attribute.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let mut value = BytesMut::with_capacity(4 + self.entries.len() * ENTRY_BYTES);
        value.put_u32_le(VERSION);
        for entry in &self.entries {
            value.put_u16_le(entry.tag.code());
            value.put_u16_le(entry.permissions);
            value.put_u32_le(entry.tag.id());
        }
        value.freeze()
    }

    /// The entries, in order.
    #[must_use]
    pub fn entries(&self) -> &[AclEntry] {
        &self.entries
    }

    /// The nine permission bits of a file with this access ACL; the mask, where there is one, shows as the group's bits.
    #[must_use]
    pub fn mode_from_acl(&self) -> u32 {
        let mut mode = 0;
        let mut mask = None;
        for entry in &self.entries {
            let bits = u32::from(entry.permissions);
            match entry.tag {
                AclTag::Owner => mode |= bits << 6,
                AclTag::OwningGroup => mode |= bits << 3,
                AclTag::Other => mode |= bits,
                AclTag::Mask => mask = Some(bits),
                AclTag::User(_) | AclTag::Group(_) => {}
            }
        }
        mask.map_or(mode, |mask| (mode & !0o070) | (mask << 3))
    }

    /// Whether mode bits say the same, so that the list need not be kept.
    #[must_use]
    pub fn is_equivalent_to_mode(&self) -> bool {
        !self.has_mask() && self.entries.len() == 3
    }

    /// Follows a chmod(2) to `mode`: its group bits become the mask where there is one, else the owning group's entry.
    pub fn apply_chmod(&mut self, mode: u32) {
        let has_mask = self.has_mask();
        for entry in &mut self.entries {
            match entry.tag {
                AclTag::Owner => entry.permissions = class(mode, 6),
                AclTag::Other => entry.permissions = class(mode, 0),
                AclTag::Mask => entry.permissions = class(mode, 3),
                AclTag::OwningGroup if !has_mask => entry.permissions = class(mode, 3),
                AclTag::OwningGroup | AclTag::User(_) | AclTag::Group(_) => {}
            }
        }
    }

    /// What an inode gets that is made with `mode` in a directory with this default ACL. No umask applies then.
    #[must_use]
    pub fn inherit(&self, mode: u32, is_dir: bool) -> Inherited {
        let has_mask = self.has_mask();
        let mut access = self.clone();
        for entry in &mut access.entries {
            match entry.tag {
                AclTag::Owner => entry.permissions &= class(mode, 6),
                AclTag::Other => entry.permissions &= class(mode, 0),
                AclTag::Mask => entry.permissions &= class(mode, 3),
                AclTag::OwningGroup if !has_mask => entry.permissions &= class(mode, 3),
                AclTag::OwningGroup | AclTag::User(_) | AclTag::Group(_) => {}
            }
        }
        let mode = (mode & !0o777) | access.mode_from_acl();
        let access = (!access.is_equivalent_to_mode()).then_some(access);
        Inherited { mode, access, default: is_dir.then(|| self.clone()) }
    }

    fn has_mask(&self) -> bool {
        self.entries.iter().any(|entry| entry.tag == AclTag::Mask)
    }
}

/// The three permission bits of `mode` at `shift`.
fn class(mode: u32, shift: u32) -> u16 {
    // Three bits always fit.
    ((mode >> shift) & 0o7) as u16
}

fn decode_entry(bytes: &[u8]) -> Result<AclEntry> {
    const SHORT: Error = Error::Invalid("ACL entry is cut short");
    let (code, rest) = bytes.split_first_chunk::<2>().ok_or(SHORT)?;
    let (permissions, rest) = rest.split_first_chunk::<2>().ok_or(SHORT)?;
    let (id, _) = rest.split_first_chunk::<4>().ok_or(SHORT)?;
    let tag = AclTag::decode(u16::from_le_bytes(*code), u32::from_le_bytes(*id))?;
    Ok(AclEntry { tag, permissions: u16::from_le_bytes(*permissions) })
}

/// The rules of `posix_acl_valid`: each tag in its place, the unnamed ones once, a mask where somebody is named.
fn check(entries: &[AclEntry]) -> Result<()> {
    if entries.iter().any(|entry| entry.permissions & !0o7 != 0) {
        return Err(Error::Invalid("ACL entry has unknown permissions"));
    }
    let in_order = entries.iter().zip(entries.iter().skip(1)).all(|(before, after)| {
        let (before, after) = (before.tag.code(), after.tag.code());
        before < after || (before == after && matches!(after, 0x02 | 0x08))
    });
    if !in_order {
        return Err(Error::Invalid("ACL entries are out of order"));
    }
    let has = |code| entries.iter().any(|entry| entry.tag.code() == code);
    if !(has(0x01) && has(0x04) && has(0x20)) {
        return Err(Error::Invalid("ACL lacks owner, group or other"));
    }
    if (has(0x02) || has(0x08)) && !has(0x10) {
        return Err(Error::Invalid("ACL names somebody but has no mask"));
    }
    Ok(())
}
