use super::{Entry, find_in};

const TABLE: &[u8] = b"\
22 28 0:21 / /proc rw,nosuid - proc proc rw\n\
28 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n\
90 28 0:44 / /mnt/a\\040b\\134c rw shared:5 master:2 - fuse.stoa stoa rw,user_id=0\n\
91 28 0:45 / /mnt/two rw - tmpfs none rw\n\
92 91 0:46 / /mnt/two rw - fuse.stoa stoa rw\n\
broken line\n";

#[test]
fn the_uppermost_mount_at_a_place_is_found() {
    let entry = |device: &str, kind: &str| Some(Entry { device: device.to_owned(), kind: kind.to_owned() });
    assert_eq!(find_in(TABLE, b"/"), entry("254:0", "ext4"));
    assert_eq!(find_in(TABLE, b"/mnt/a b\\c"), entry("0:44", "fuse.stoa"));
    assert_eq!(find_in(TABLE, b"/mnt/two"), entry("0:46", "fuse.stoa"));
    assert_eq!(find_in(TABLE, b"/mnt"), None);
    assert_eq!(find_in(b"", b"/"), None);
}
