use super::{failure, list, mount, receive, unmount};
use crate::mount::table;
use crate::{Error, MountOptions};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Output};

#[test]
fn options_are_listed_as_the_helper_reads_them() {
    let plain = MountOptions { source: "s3://b/p".to_owned(), ..MountOptions::default() };
    assert_eq!(list(&plain).unwrap(), "fsname=s3://b/p,subtype=stoa,default_permissions,max_read=1048576");
    let all = MountOptions { allow_other: Some(true), read_only: true, noexec: true, noatime: true, ..plain };
    assert!(list(&all).unwrap().ends_with(",allow_other,ro,noexec,noatime"));
    for source in ["a,allow_other", "a\\", "a\nb", ""] {
        let bad = MountOptions { source: source.to_owned(), ..MountOptions::default() };
        assert!(matches!(list(&bad), Err(Error::Option(_))), "{source:?}");
    }
}

#[test]
fn words_of_the_helper_are_understood() {
    let of = |words: &str| {
        let output =
            Output { status: ExitStatus::from_raw(256), stdout: Vec::new(), stderr: words.as_bytes().to_vec() };
        failure(Path::new("/m"), &output)
    };
    let allow = "fusermount3: option allow_other only allowed if 'user_allow_other' is set in /etc/fuse.conf\n";
    assert!(matches!(of(allow), Error::AllowOther));
    assert!(matches!(of("fusermount3: failed to open /dev/fuse: Permission denied\n"), Error::DeviceDenied));
    assert!(matches!(of("fusermount3: user has no write access to mountpoint /m\n"), Error::NotPermitted(_)));
    assert!(matches!(of("fusermount3: failed to unmount /m: Device or resource busy\n"), Error::Busy(_)));
    assert!(matches!(of("fusermount3: entry for /m not found in /etc/mtab\n"), Error::NotMounted(_)));
    assert!(matches!(of("fusermount3: fuse device not found, try 'modprobe fuse' first\n"), Error::NoFuse));
    let other = of("fusermount3: too many FUSE filesystems mounted\n");
    assert!(matches!(&other, Error::Helper(words) if words == "too many FUSE filesystems mounted"), "{other:?}");
}

#[test]
fn a_helper_that_sends_nothing_is_not_waited_for() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    drop(theirs);
    assert!(receive(&ours).is_err());
}

#[test]
fn the_helper_mounts_hands_over_the_device_and_unmounts() {
    let dir = tempfile::tempdir().unwrap();
    let options = MountOptions { read_only: true, ..MountOptions::default() };
    let device = mount(dir.path(), &options).unwrap();
    let found = table::find(dir.path());
    // The kernel has sent its first request to this device.
    let mut buffer = Vec::with_capacity(1 << 16);
    let read = device.read(&mut buffer);
    let gone = unmount(dir.path(), true);
    assert_eq!(found.unwrap().kind, "fuse.stoa");
    read.unwrap();
    assert_eq!(buffer.len(), 104);
    gone.unwrap();
    assert_eq!(table::find(dir.path()), None);
    assert!(matches!(unmount(dir.path(), false), Err(Error::NotMounted(_))));
    assert!(matches!(mount(&dir.path().join("absent"), &options), Err(Error::Helper(_))));
}
