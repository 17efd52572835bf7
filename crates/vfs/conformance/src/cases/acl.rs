//! POSIX access control lists.

use crate::fs::{CALLER, Fs, ROOT, name, plain, refused};
use bytes::Bytes;
use stoa_vfs::{ACL_ACCESS, ACL_DEFAULT, Acl, AclEntry, AclTag, Ino, Make, Node, Result, XattrMode};

fn entry(tag: AclTag, permissions: u16) -> AclEntry {
    AclEntry { tag, permissions }
}

fn minimal(owner: u16, group: u16, other: u16) -> Acl {
    let entries = vec![entry(AclTag::Owner, owner), entry(AclTag::OwningGroup, group), entry(AclTag::Other, other)];
    Acl::new(entries).unwrap()
}

/// `u::7 u:5:7 g::5 g:6:4 m::mask o::1`
fn extended(mask: u16) -> Acl {
    let entries = vec![
        entry(AclTag::Owner, 7),
        entry(AclTag::User(5), 7),
        entry(AclTag::OwningGroup, 5),
        entry(AclTag::Group(6), 4),
        entry(AclTag::Mask, mask),
        entry(AclTag::Other, 1),
    ];
    Acl::new(entries).unwrap()
}

async fn set(fs: &Fs, ino: Ino, attribute: &[u8], acl: &Acl) -> Result<()> {
    fs.setxattr(ino, attribute, acl.encode(), XattrMode::Set, false).await
}

async fn get(fs: &Fs, ino: Ino, attribute: &[u8]) -> Option<Acl> {
    match fs.getxattr(ino, attribute).await {
        Ok(value) => Acl::parse(&value).unwrap(),
        Err(error) => {
            assert_eq!(error.errno(), libc::ENODATA);
            None
        }
    }
}

pub async fn an_access_acl_sets_the_mode(fs: Fs) {
    if !fs.can.acls {
        return;
    }
    let ino = fs.file(ROOT, "a").await;
    assert_eq!(get(&fs, ino, ACL_ACCESS).await, None);
    fs.chmod(ino, 0o4644).await;
    set(&fs, ino, ACL_ACCESS, &extended(6)).await.unwrap();
    assert_eq!(fs.attr(ino).await.mode, 0o4761);
    assert_eq!(get(&fs, ino, ACL_ACCESS).await, Some(extended(6)));
    assert_eq!(fs.listxattr(ino).await.unwrap(), [Bytes::from_static(ACL_ACCESS)]);
}

pub async fn a_minimal_acl_is_only_a_mode(fs: Fs) {
    if !fs.can.acls {
        return;
    }
    let ino = fs.file(ROOT, "a").await;
    set(&fs, ino, ACL_ACCESS, &extended(7)).await.unwrap();
    set(&fs, ino, ACL_ACCESS, &minimal(6, 4, 0)).await.unwrap();
    assert_eq!(fs.attr(ino).await.mode, 0o640);
    assert_eq!(get(&fs, ino, ACL_ACCESS).await, None);
    assert!(fs.listxattr(ino).await.unwrap().is_empty());
}

pub async fn chmod_changes_the_mask(fs: Fs) {
    if !fs.can.acls {
        return;
    }
    let ino = fs.file(ROOT, "a").await;
    set(&fs, ino, ACL_ACCESS, &extended(7)).await.unwrap();
    assert_eq!(fs.chmod(ino, 0o750).await.mode, 0o750);
    let acl = get(&fs, ino, ACL_ACCESS).await.unwrap();
    let mut expected = extended(5);
    expected.apply_chmod(0o750);
    assert_eq!(acl, expected);
    assert!(acl.entries().contains(&entry(AclTag::Mask, 5)));
    assert!(acl.entries().contains(&entry(AclTag::User(5), 7)));
    assert!(acl.entries().contains(&entry(AclTag::Other, 0)));
}

pub async fn files_inherit_a_default_acl(fs: Fs) {
    if !fs.can.acls {
        return;
    }
    let dir = fs.dir(ROOT, "dir").await;
    set(&fs, dir, ACL_DEFAULT, &extended(6)).await.unwrap();
    assert_eq!(fs.attr(dir).await.mode, 0o755, "a default ACL changed the directory's own mode");
    // The umask would take everything: a default ACL decides in its place.
    let make = Make { node: Node::Regular, mode: 0o664, umask: 0o777 };
    let file = fs.make(CALLER, dir, &name("file"), &make).await.unwrap().attr;
    assert_eq!(file.mode, 0o660);
    let acl = get(&fs, file.ino, ACL_ACCESS).await.unwrap();
    assert_eq!(acl.mode_from_acl(), 0o660);
    assert!(acl.entries().contains(&entry(AclTag::User(5), 7)));
    assert_eq!(get(&fs, file.ino, ACL_DEFAULT).await, None);
}

pub async fn directories_pass_a_default_acl_on(fs: Fs) {
    if !fs.can.acls {
        return;
    }
    let dir = fs.dir(ROOT, "dir").await;
    set(&fs, dir, ACL_DEFAULT, &extended(7)).await.unwrap();
    let inner = fs.make(CALLER, dir, &name("inner"), &plain(Node::Directory)).await.unwrap().attr;
    assert_eq!(inner.mode, 0o751);
    assert_eq!(get(&fs, inner.ino, ACL_DEFAULT).await, Some(extended(7)));
    let file = fs.file(inner.ino, "file").await;
    assert_eq!(get(&fs, file, ACL_ACCESS).await.unwrap().mode_from_acl(), 0o640);
    let link = fs.symlink(dir, "link", "x").await;
    assert_eq!(fs.attr(link).await.mode, 0o777);
    assert!(fs.listxattr(link).await.unwrap().is_empty());
}

pub async fn a_minimal_default_acl_replaces_the_umask(fs: Fs) {
    if !fs.can.acls {
        return;
    }
    let dir = fs.dir(ROOT, "dir").await;
    set(&fs, dir, ACL_DEFAULT, &minimal(7, 7, 5)).await.unwrap();
    assert_eq!(get(&fs, dir, ACL_DEFAULT).await, Some(minimal(7, 7, 5)));
    let make = Make { node: Node::Regular, mode: 0o666, umask: 0o077 };
    let file = fs.make(CALLER, dir, &name("file"), &make).await.unwrap().attr;
    assert_eq!(file.mode, 0o664);
    assert_eq!(get(&fs, file.ino, ACL_ACCESS).await, None);
    fs.removexattr(dir, ACL_DEFAULT).await.unwrap();
    let file = fs.make(CALLER, dir, &name("file2"), &make).await.unwrap().attr;
    assert_eq!(file.mode, 0o600);
}

pub async fn removing_keeps_the_mode(fs: Fs) {
    if !fs.can.acls {
        return;
    }
    let ino = fs.file(ROOT, "a").await;
    set(&fs, ino, ACL_ACCESS, &extended(6)).await.unwrap();
    fs.removexattr(ino, ACL_ACCESS).await.unwrap();
    assert_eq!(fs.attr(ino).await.mode, 0o761);
    assert_eq!(get(&fs, ino, ACL_ACCESS).await, None);
    set(&fs, ino, ACL_ACCESS, &extended(6)).await.unwrap();
    // A list without entries stands for none (setfacl -b of some libraries).
    fs.setxattr(ino, ACL_ACCESS, Bytes::from_static(&[2, 0, 0, 0]), XattrMode::Set, false).await.unwrap();
    assert_eq!(get(&fs, ino, ACL_ACCESS).await, None);
}

pub async fn set_gid_goes_for_strangers_to_the_group(fs: Fs) {
    if !fs.can.acls {
        return;
    }
    let ino = fs.file(ROOT, "a").await;
    for (clear, expected) in [(false, 0o2761), (true, 0o761)] {
        fs.chmod(ino, 0o2755).await;
        fs.setxattr(ino, ACL_ACCESS, extended(6).encode(), XattrMode::Set, clear).await.unwrap();
        assert_eq!(fs.attr(ino).await.mode, expected);
    }
}

pub async fn only_valid_lists_are_taken(fs: Fs) {
    if !fs.can.acls {
        return;
    }
    let dir = fs.dir(ROOT, "dir").await;
    let good = extended(7).encode();
    let hostile: [Vec<u8>; 5] = [
        vec![2, 0, 0],
        good[..good.len() - 1].to_vec(),
        good[..good.len() - 8].to_vec(),
        [&[2, 0, 0, 0], &good[12..]].concat(),
        [&good[..], &good[good.len() - 8..]].concat(),
    ];
    for value in hostile {
        for attribute in [ACL_ACCESS, ACL_DEFAULT] {
            let value = Bytes::from(value.clone());
            refused(fs.setxattr(dir, attribute, value, XattrMode::Set, false).await, libc::EINVAL);
        }
    }
    assert!(fs.listxattr(dir).await.unwrap().is_empty());
    assert_eq!(fs.attr(dir).await.mode, 0o755);
}

pub async fn only_directories_have_defaults(fs: Fs) {
    if !fs.can.acls {
        return;
    }
    let file = fs.file(ROOT, "file").await;
    let link = fs.symlink(ROOT, "link", "x").await;
    refused(set(&fs, file, ACL_DEFAULT, &extended(7)).await, libc::EACCES);
    for attribute in [ACL_ACCESS, ACL_DEFAULT] {
        refused(set(&fs, link, attribute, &extended(7)).await, libc::ENOTSUP);
    }
}
