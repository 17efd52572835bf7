//! Extended attributes and ACLs.

use crate::mounted::{Mounted, as_user, c, check, errno};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

fn set(path: &Path, name: &str, value: &[u8], flags: i32) -> io::Result<i64> {
    check(unsafe { libc::setxattr(c(path).as_ptr(), c(name).as_ptr(), value.as_ptr().cast(), value.len(), flags) })
}

fn get(path: &Path, name: &str, room: usize) -> io::Result<Vec<u8>> {
    let mut value = vec![0; room];
    let len = unsafe { libc::getxattr(c(path).as_ptr(), c(name).as_ptr(), value.as_mut_ptr().cast(), room) };
    let len = check(len as i64)?;
    value.truncate(len as usize);
    Ok(value)
}

fn list(path: &Path) -> Vec<String> {
    let mut names = vec![0; 65536];
    let len = unsafe { libc::listxattr(c(path).as_ptr(), names.as_mut_ptr().cast(), names.len()) };
    names.truncate(check(len as i64).unwrap() as usize);
    let mut names: Vec<_> = names
        .split(|&byte| byte == 0)
        .filter(|n| !n.is_empty())
        .map(|n| String::from_utf8(n.to_vec()).unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn attributes_are_set_found_listed_and_removed() {
    let m = Mounted::new();
    let path = m.path("file");
    fs::write(&path, "").unwrap();
    set(&path, "user.a", b"value\0with\xffbytes", 0).unwrap();
    set(&path, "user.empty", b"", 0).unwrap();
    set(&path, "trusted.t", &[9; 60_000], 0).unwrap();
    assert_eq!(get(&path, "user.a", 100).unwrap(), b"value\0with\xffbytes");
    assert_eq!(get(&path, "user.empty", 100).unwrap(), b"");
    assert_eq!(get(&path, "trusted.t", 65_536).unwrap(), [9; 60_000]);
    assert_eq!(errno(get(&path, "user.a", 3)), libc::ERANGE);
    assert_eq!(errno(get(&path, "user.none", 3)), libc::ENODATA);
    let size = unsafe { libc::getxattr(c(&path).as_ptr(), c("user.a").as_ptr(), std::ptr::null_mut(), 0) };
    assert_eq!(size, 16);
    assert_eq!(list(&path), ["trusted.t", "user.a", "user.empty"]);
    assert_eq!(errno(set(&path, "user.a", b"", libc::XATTR_CREATE)), libc::EEXIST);
    assert_eq!(errno(set(&path, "user.b", b"", libc::XATTR_REPLACE)), libc::ENODATA);
    set(&path, "user.a", b"new", libc::XATTR_REPLACE).unwrap();
    assert_eq!(get(&path, "user.a", 100).unwrap(), b"new");
    let remove = || check(unsafe { libc::removexattr(c(&path).as_ptr(), c("user.a").as_ptr()) });
    remove().unwrap();
    assert_eq!(errno(remove()), libc::ENODATA);
    assert_eq!(list(&path), ["trusted.t", "user.empty"]);
}

/// An ACL as its extended attribute: version 2, then tag, permissions and id of each entry.
fn acl(entries: &[(u16, u16, u32)]) -> Vec<u8> {
    let mut bytes = 2u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        bytes.extend_from_slice(&tag.to_le_bytes());
        bytes.extend_from_slice(&permissions.to_le_bytes());
        bytes.extend_from_slice(&id.to_le_bytes());
    }
    bytes
}

const NONE: u32 = u32::MAX;
const OWNER: u16 = 1;
const USER: u16 = 2;
const GROUP: u16 = 4;
const MASK: u16 = 16;
const OTHER: u16 = 32;

#[test]
fn an_acl_lets_a_user_in_and_its_mask_shows_in_the_mode() {
    let m = Mounted::new();
    let path = m.path("file");
    fs::write(&path, "for you").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    assert!(!as_user("cat file", m.root()).status.success());
    let value = acl(&[(OWNER, 6, NONE), (USER, 4, 1000), (GROUP, 0, NONE), (MASK, 4, NONE), (OTHER, 0, NONE)]);
    set(&path, "system.posix_acl_access", &value, 0).unwrap();
    assert_eq!(as_user("cat file", m.root()).stdout, b"for you");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
    assert_eq!(get(&path, "system.posix_acl_access", 1000).unwrap(), value);
    // Taking the group bits away is taking the mask away.
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    assert!(!as_user("cat file", m.root()).status.success());
}

#[test]
fn a_default_acl_is_inherited_instead_of_the_umask() {
    let m = Mounted::new();
    let dir = m.path("dir");
    fs::create_dir(&dir).unwrap();
    fs::set_permissions(&dir, Permissions::from_mode(0o777)).unwrap();
    let value = acl(&[(OWNER, 7, NONE), (USER, 6, 4321), (GROUP, 5, NONE), (MASK, 7, NONE), (OTHER, 0, NONE)]);
    set(&dir, "system.posix_acl_default", &value, 0).unwrap();
    assert!(as_user("umask 077; echo > dir/file; mkdir dir/sub", m.root()).status.success());
    assert_eq!(fs::metadata(dir.join("file")).unwrap().mode() & 0o777, 0o660);
    assert_eq!(get(&dir.join("sub"), "system.posix_acl_default", 1000).unwrap(), value);
    let inherited = get(&dir.join("file"), "system.posix_acl_access", 1000).unwrap();
    assert_eq!(
        inherited,
        acl(&[(OWNER, 6, NONE), (USER, 6, 4321), (GROUP, 5, NONE), (MASK, 6, NONE), (OTHER, 0, NONE)])
    );
}

#[test]
fn trusted_attributes_show_to_root_alone() {
    let m = Mounted::new();
    let path = m.path("file");
    fs::write(&path, "").unwrap();
    set(&path, "trusted.t", b"t", 0).unwrap();
    set(&path, "user.u", b"u", 0).unwrap();
    let script = "import os; print(sorted(os.listxattr('file')))";
    let seen = as_user(&format!("python3 -c \"{script}\""), m.root());
    assert_eq!(String::from_utf8_lossy(&seen.stdout).trim(), "['user.u']", "{seen:?}");
}
