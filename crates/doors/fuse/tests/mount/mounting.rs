//! Mounting and unmounting themselves.

use crate::mounted::{Mounted, errno};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use stoa_conformance::Model;
use stoa_fuse::{Error, Mount, MountOptions, unmount};
use stoa_vfs::Vfs;
use tokio::runtime::Runtime;

fn mount(dir: &Path, runtime: &Runtime) -> Result<Mount, Error> {
    Mount::new(Arc::new(Model::new()), dir, MountOptions::default(), runtime.handle().clone())
}

#[test]
fn the_mount_table_shows_it_with_its_options() {
    let m = Mounted::with(
        Arc::new(Model::new()),
        MountOptions { source: "s3://bucket/a b".to_owned(), noexec: true, noatime: true, ..MountOptions::default() },
    );
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let dir = m.mount.dir().to_str().unwrap();
    let line = table.lines().find(|line| line.contains(dir)).unwrap();
    for part in [
        "fuse.stoa",
        "s3://bucket/a\\040b",
        "noexec",
        "noatime",
        "nosuid",
        "nodev",
        "default_permissions",
        "allow_other",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
}

#[test]
fn limits_of_the_page_cache_are_set() {
    let m = Mounted::new();
    let dev = fs::metadata(m.root()).unwrap().dev();
    let knobs = format!("/sys/class/bdi/{}:{}", libc::major(dev), libc::minor(dev));
    let knob = |name| fs::read_to_string(format!("{knobs}/{name}")).unwrap().trim().to_owned();
    assert_eq!(knob("read_ahead_kb"), "1024");
    // As the share of what the kernel allows all, and rounded by it; absent before Linux 6.2.
    if std::path::Path::new(&knobs).join("max_bytes").exists() {
        let bytes: u64 = knob("max_bytes").parse().unwrap();
        assert!(bytes.abs_diff(128 << 20) < 16 << 20, "{bytes}");
        assert_eq!(knob("strict_limit"), "1");
    } else {
        assert_eq!((knob("max_ratio"), knob("strict_limit")), ("50".into(), "0".into()));
    }
}

#[test]
fn mistakes_are_named() {
    let runtime = Runtime::new().unwrap();
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(mount(&dir.path().join("absent"), &runtime), Err(Error::Missing(_))));
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(mount(&file, &runtime), Err(Error::NotDirectory(_))));
    assert!(matches!(mount(&file.join("below"), &runtime), Err(Error::NotDirectory(_))));
    assert!(matches!(unmount(dir.path(), false), Err(Error::NotMounted(_))));
    let bad = MountOptions { source: "a,suid".to_owned(), ..MountOptions::default() };
    let bad = Mount::new(Arc::new(Model::new()), dir.path(), bad, runtime.handle().clone());
    assert!(matches!(bad, Err(Error::Option(_))));
}

#[test]
fn a_volume_is_not_mounted_over_another() {
    let m = Mounted::new();
    assert!(matches!(mount(m.root(), &m.runtime), Err(Error::AlreadyMounted(_))));
}

#[test]
fn what_is_in_use_is_unmounted_lazily_alone() {
    let m = Mounted::new();
    let mut file = File::create(m.path("open")).unwrap();
    assert!(matches!(m.runtime.block_on(m.mount.unmount(false)), Err(Error::Busy(_))));
    m.runtime.block_on(m.mount.unmount(true)).unwrap();
    assert!(!m.path("open").exists());
    file.write_all(b"goes on").unwrap();
    file.sync_all().unwrap();
    drop(file);
    m.runtime.block_on(m.mount.wait());
    drop_ended(m);
}

/// What is no longer mounted can't be unmounted when it is dropped.
fn drop_ended(m: Mounted) {
    assert!(matches!(m.runtime.block_on(m.mount.unmount(false)), Err(Error::NotMounted(_))));
    std::mem::forget(m);
}

#[test]
fn a_dropped_mount_is_gone() {
    let runtime = Runtime::new().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mount = mount(dir.path(), &runtime).unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    drop(mount);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn unmounting_from_outside_ends_the_wait_with_everything_written() {
    let runtime = Runtime::new().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let vfs = Arc::new(Model::new());
    let mount =
        Mount::new(Arc::clone(&vfs) as Arc<dyn Vfs>, dir.path(), MountOptions::default(), runtime.handle().clone())
            .unwrap();
    let data = vec![3; 5 << 20];
    fs::write(dir.path().join("file"), &data).unwrap();
    let status = std::process::Command::new("umount").arg(dir.path()).status().unwrap();
    assert!(status.success());
    runtime.block_on(mount.wait());
    drop(mount);
    let again = Mount::new(vfs, dir.path(), MountOptions::default(), runtime.handle().clone()).unwrap();
    assert!(fs::read(dir.path().join("file")).unwrap() == data);
    runtime.block_on(again.unmount(false)).unwrap();
}

#[test]
fn a_read_only_mount_takes_no_writes() {
    let runtime = Runtime::new().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let options = MountOptions { read_only: true, ..MountOptions::default() };
    let mount = Mount::new(Arc::new(Model::new()), dir.path(), options, runtime.handle().clone()).unwrap();
    assert_eq!(errno(fs::write(dir.path().join("x"), "")), libc::EROFS);
    runtime.block_on(mount.unmount(false)).unwrap();
}
