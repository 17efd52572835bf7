use super::*;

const TABLE: &[u8] = b"\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
90 22 0:57 / /mnt/my\\040files\\134x rw,nosuid shared:5 master:2 - fuse.stoa s3://bucket/a\\040b rw,user_id=0\n\
91 22 0:58 / /mnt/\xff rw - fuse.stoa /srv/store rw\n\
92 22 0:59 / /mnt/cut\n\
\n";

#[test]
fn the_kernel_table_is_read_with_its_escapes_and_optional_fields() {
    let mounts = parse(TABLE);
    assert_eq!(mounts.len(), 3, "{mounts:?}");
    assert_eq!(mounts[0].fs_type, "ext4");
    assert_eq!(
        mounts[1],
        Mounted {
            device: (0, 57),
            mountpoint: "/mnt/my files\\x".into(),
            fs_type: FS_TYPE.into(),
            source: "s3://bucket/a b".into(),
            owner: Some(0),
        }
    );
    assert_eq!(mounts[2].mountpoint.as_os_str().as_bytes(), b"/mnt/\xff");
    assert_eq!(mounts[2].owner, None);
}

#[test]
fn a_stray_backslash_stays() {
    assert_eq!(unescape(b"a\\"), b"a\\");
    assert_eq!(unescape(b"\\9zz"), b"\\9zz");
    assert_eq!(unescape(b"\\777"), b"\\777");
    assert_eq!(unescape(b"\\040\\011"), b" \t");
}

#[test]
fn a_path_is_resolved_through_links_and_dots() {
    let dir = tempfile::tempdir().unwrap();
    let real = dir.path().canonicalize().unwrap().join("real");
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, dir.path().join("link")).unwrap();
    assert_eq!(resolve(&dir.path().join("link")).unwrap(), real);
    assert_eq!(resolve(&dir.path().join("link/../real/.")).unwrap(), real);
    let error = resolve(&dir.path().join("gone")).unwrap_err();
    assert!(error.what().contains("gone"), "{error:?}");
}

#[test]
fn containing_is_by_whole_names() {
    assert!(contains(Path::new("/a"), Path::new("/a")));
    assert!(contains(Path::new("/a"), Path::new("/a/b")));
    assert!(!contains(Path::new("/a"), Path::new("/ab")));
    assert!(!contains(Path::new("/a/b"), Path::new("/a")));
}
