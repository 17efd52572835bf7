use super::DirBuffer;
use crate::{Attr, Entry};

#[test]
fn records_are_padded_to_eight_bytes_and_never_overrun() {
    let mut buffer = DirBuffer::new(100);
    assert!(buffer.push(5, 9, 0o40_755, b"abc"));
    assert_eq!(buffer.room(), 68);
    assert!(buffer.push(6, 10, 0o100_644, b"12345678"));
    assert_eq!(buffer.room(), 36);
    assert!(!buffer.push(7, 11, 0o100_644, &[b'n'; 255]));
    assert!(buffer.push(8, 12, 0o120_777, b"l"));
    let bytes = buffer.into_bytes();
    assert_eq!(bytes.len(), 96);
    let u64_at = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
    let u32_at = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((u64_at(0), u64_at(8), u32_at(16), u32_at(20)), (5, 9, 3, 4));
    assert_eq!(&bytes[24..32], b"abc\0\0\0\0\0");
    assert_eq!((u64_at(32), u64_at(40), u32_at(48), u32_at(52)), (6, 10, 8, 8));
    assert_eq!((u64_at(64), u32_at(84), &bytes[88..]), (8, 10, &b"l\0\0\0\0\0\0\0"[..]));
}

#[test]
fn entries_with_attributes_stand_before_their_record() {
    let size = DirBuffer::record_bytes(4, true);
    assert_eq!(size, 160);
    let entry = Entry { nodeid: 3, attr: Attr { ino: 3, ..Attr::default() }, ..Entry::default() };
    let mut buffer = DirBuffer::new(size);
    assert!(!buffer.push_plus(&entry, 3, 4, 0o100_644, b"name-long"));
    assert!(buffer.is_empty());
    assert!(buffer.push_plus(&entry, 3, 4, 0o100_644, b"name"));
    assert!(!buffer.push(3, 4, 0, b""));
    let bytes = buffer.into_bytes();
    assert_eq!((bytes.len(), bytes[0], bytes[40], bytes[128], bytes[136]), (160, 3, 3, 3, 4));
}
