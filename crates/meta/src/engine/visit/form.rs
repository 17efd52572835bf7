//! What a record must be like that its decoder does not ask for.

use crate::engine::xattrs::check_name;
use crate::record::Bucket;
use std::collections::HashSet;
use stoa_vfs::{ACL_ACCESS, ACL_DEFAULT, Acl, Ino, Name};

/// An attribute has a name that can be set, and an ACL is one that the kernel can read.
pub(super) fn check_xattr(ino: Ino, name: &[u8], value: &[u8], wrong: &mut dyn FnMut(String)) {
    let shown = name.escape_ascii();
    if check_name(name).is_err() {
        wrong(format!("inode {ino} has an attribute {shown}, and no attribute can be called so"));
    }
    // An ACL without entries is none, and is not kept.
    if [ACL_ACCESS, ACL_DEFAULT].contains(&name) && !matches!(Acl::parse(value), Ok(Some(_))) {
        wrong(format!("the attribute {shown} of inode {ino} is no ACL"));
    }
}

/// Every name is found by its hash, once, and has a slot of its own: so lookups find it, and cookies tell it from others.
pub(super) fn check_bucket(
    parent: Ino,
    bucket: &Bucket,
    belongs: impl Fn(&Name) -> bool,
    wrong: &mut dyn FnMut(String),
) {
    let mut names = HashSet::new();
    let mut free_slot = 0;
    for dentry in &bucket.dentries {
        let name = &dentry.name;
        if !belongs(name) {
            wrong(format!("{name:?} in directory {parent} is kept under the hash of another name, and is not found"));
        }
        if !names.insert(name) {
            wrong(format!("{name:?} is in directory {parent} twice"));
        }
        if dentry.slot < free_slot {
            wrong(format!(
                "{name:?} in directory {parent} has slot {} after a greater one, or a second time",
                dentry.slot
            ));
        }
        free_slot = free_slot.max(dentry.slot.saturating_add(1));
    }
}
