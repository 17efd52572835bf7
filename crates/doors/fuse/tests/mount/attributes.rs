//! Attributes, owners and permissions.

use crate::mounted::{Mounted, as_user, c, check, errno};
use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::time::{Duration, UNIX_EPOCH};

#[test]
fn mode_owner_and_times_can_be_set() {
    let m = Mounted::new();
    let path = m.path("file");
    fs::write(&path, "x").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o1640)).unwrap();
    chown(&path, Some(7), None).unwrap();
    chown(&path, None, Some(8)).unwrap();
    let stat = fs::metadata(&path).unwrap();
    assert_eq!((stat.mode() & 0o7777, stat.uid(), stat.gid()), (0o1640, 7, 8));
    let (atime, mtime) =
        (UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789), UNIX_EPOCH + Duration::new(5, 999_999_999));
    File::open(&path).unwrap().set_times(FileTimes::new().set_accessed(atime).set_modified(mtime)).unwrap();
    let stat = fs::metadata(&path).unwrap();
    assert_eq!((stat.accessed().unwrap(), stat.modified().unwrap()), (atime, mtime));
    // Before 1970, which the protocol carries in an unsigned field.
    let early = UNIX_EPOCH - Duration::from_secs(1000);
    File::open(&path).unwrap().set_times(FileTimes::new().set_modified(early)).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), early);
    assert!(stat.created().unwrap().elapsed().unwrap() < Duration::from_secs(300));
}

#[test]
fn changes_move_the_times_that_they_should() {
    let m = Mounted::new();
    let path = m.path("file");
    fs::write(&path, "x").unwrap();
    let before = fs::metadata(&path).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let after = fs::metadata(&path).unwrap();
    assert_eq!((before.mtime(), before.mtime_nsec()), (after.mtime(), after.mtime_nsec()));
    assert!((before.ctime(), before.ctime_nsec()) < (after.ctime(), after.ctime_nsec()));
    std::thread::sleep(Duration::from_millis(20));
    fs::write(&path, "yy").unwrap();
    let last = fs::metadata(&path).unwrap();
    assert!((after.mtime(), after.mtime_nsec()) < (last.mtime(), last.mtime_nsec()));
}

#[test]
fn permissions_are_checked_for_other_users() {
    let m = Mounted::new();
    fs::write(m.path("secret"), "s").unwrap();
    fs::set_permissions(m.path("secret"), Permissions::from_mode(0o600)).unwrap();
    fs::write(m.path("public"), "p").unwrap();
    fs::set_permissions(m.path("public"), Permissions::from_mode(0o644)).unwrap();
    fs::create_dir(m.path("closed")).unwrap();
    fs::set_permissions(m.path("closed"), Permissions::from_mode(0o700)).unwrap();
    assert!(!as_user("cat secret", m.root()).status.success());
    assert!(!as_user("echo x > public", m.root()).status.success());
    assert!(!as_user("touch closed/x", m.root()).status.success());
    assert_eq!(as_user("cat public", m.root()).stdout, b"p");
    assert!(as_user("umask 027; echo x > mine; mkdir sub", m.root()).status.success());
    let stat = fs::metadata(m.path("mine")).unwrap();
    assert_eq!((stat.uid(), stat.gid(), stat.mode() & 0o7777), (1000, 1000, 0o640));
    assert_eq!(fs::metadata(m.path("sub")).unwrap().mode() & 0o7777, 0o750);
}

#[test]
fn a_set_gid_directory_hands_its_group_down() {
    let m = Mounted::new();
    fs::create_dir(m.path("team")).unwrap();
    chown(m.path("team"), None, Some(55)).unwrap();
    fs::set_permissions(m.path("team"), Permissions::from_mode(0o2777)).unwrap();
    assert!(as_user("echo > team/file; mkdir team/sub", m.root()).status.success());
    assert_eq!(fs::metadata(m.path("team/file")).unwrap().gid(), 55);
    let sub = fs::metadata(m.path("team/sub")).unwrap();
    assert_eq!((sub.gid(), sub.mode() & 0o2000), (55, 0o2000));
}

#[test]
fn space_is_counted() {
    let m = Mounted::new();
    let mut stat = unsafe { std::mem::zeroed::<libc::statvfs>() };
    check(unsafe { libc::statvfs(c(m.root()).as_ptr(), &raw mut stat) }).unwrap();
    assert_eq!((stat.f_namemax, stat.f_bsize), (255, 4096));
    assert!(stat.f_blocks > 0 && stat.f_bavail <= stat.f_blocks && stat.f_files > stat.f_ffree);
}

#[test]
fn ioctls_are_refused() {
    use std::os::fd::AsRawFd;
    let m = Mounted::new();
    let file = File::create(m.path("file")).unwrap();
    let status = unsafe { libc::ioctl(file.as_raw_fd(), 0x1234_5601, 0) };
    assert_eq!(errno(check(status)), libc::ENOTTY);
}
