use super::{attr, count, create, entry, header, init, offset, open, statfs, statx};
use crate::{Attr, Entry, InitReply, Open, StatFs, Time, flags};
use std::time::Duration;

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap())
}

const ATTR: Attr = Attr {
    ino: 77,
    size: 1000,
    blocks: 2,
    atime: Time { secs: 1, nanos: 2 },
    mtime: Time { secs: -3, nanos: 4 },
    ctime: Time { secs: 5, nanos: 6 },
    btime: Time { secs: 7, nanos: 8 },
    mode: 0o100_644,
    nlink: 9,
    uid: 10,
    gid: 11,
    rdev: 0x1234_5678,
    blksize: 4096,
};

#[test]
fn a_header_counts_itself_and_negates_the_errno() {
    let bytes = header(42, 2, 0).unwrap();
    assert_eq!((u32_at(&bytes, 0), u32_at(&bytes, 4).cast_signed(), u64_at(&bytes, 8)), (16, -2, 42));
    assert_eq!(u32_at(&header(1, 0, 100).unwrap(), 0), 116);
    assert_eq!(header(1, 0, u32::MAX as usize), None);
    assert_eq!(header(1, 0, usize::MAX), None);
}

#[test]
fn attributes_stand_where_the_kernel_looks() {
    let body = attr(&ATTR, Duration::new(3, 4));
    let bytes = body.as_bytes();
    assert_eq!(bytes.len(), 104);
    assert_eq!((u64_at(bytes, 0), u32_at(bytes, 8)), (3, 4));
    let at = &bytes[16..];
    assert_eq!((u64_at(at, 0), u64_at(at, 8), u64_at(at, 16)), (77, 1000, 2));
    assert_eq!((u64_at(at, 24), u64_at(at, 32).cast_signed(), u64_at(at, 40)), (1, -3, 5));
    assert_eq!((u32_at(at, 48), u32_at(at, 52), u32_at(at, 56)), (2, 4, 6));
    assert_eq!((u32_at(at, 60), u32_at(at, 64), u32_at(at, 68), u32_at(at, 72)), (0o100_644, 9, 10, 11));
    assert_eq!((u32_at(at, 76), u32_at(at, 80)), (0x1234_5678, 4096));
}

#[test]
fn entries_and_opens_follow_each_other() {
    let wanted = Entry { nodeid: 77, entry_valid: Duration::new(1, 2), attr_valid: Duration::new(3, 4), attr: ATTR };
    let alone = entry(&wanted);
    let both = create(&wanted, &Open { handle: 5, flags: flags::open_reply::KEEP_CACHE });
    assert_eq!((alone.as_bytes().len(), both.as_bytes().len()), (128, 144));
    assert_eq!(alone.as_bytes(), &both.as_bytes()[..128]);
    let bytes = both.as_bytes();
    assert_eq!((u64_at(bytes, 0), u64_at(bytes, 16), u64_at(bytes, 24)), (77, 1, 3));
    assert_eq!((u32_at(bytes, 32), u32_at(bytes, 36), u64_at(bytes, 40)), (2, 4, 77));
    assert_eq!(&bytes[128..], open(&Open { handle: 5, flags: 2 }).as_bytes());
    assert_eq!((u64_at(bytes, 128), u32_at(bytes, 136)), (5, 2));
}

#[test]
fn flags_are_split_and_the_version_is_the_lesser() {
    let reply = InitReply {
        minor: 99,
        flags: flags::init::ALLOW_IDMAP | flags::init::INIT_EXT | 1,
        readahead_bytes_max: 1,
        write_bytes_max: 2,
        pages_max: 3,
        background_max: 4,
        congestion_threshold: 5,
    };
    let body = init(&reply);
    let bytes = body.as_bytes();
    assert_eq!(bytes.len(), 64);
    assert_eq!((u32_at(bytes, 0), u32_at(bytes, 4), u32_at(bytes, 8)), (7, 45, 1));
    assert_eq!((u32_at(bytes, 12), u32_at(bytes, 32)), (1 << 30 | 1, 1 << 8));
    assert_eq!((u32_at(bytes, 16), u32_at(bytes, 20), u32_at(bytes, 24)), (5 << 16 | 4, 2, 1));
    assert_eq!(u32_at(bytes, 28), 3);
    assert_eq!(u32_at(init(&InitReply { minor: 31, ..reply }).as_bytes(), 4), 31);
}

#[test]
fn statx_has_the_creation_time_and_both_halves_of_the_device() {
    let body = statx(&ATTR, Duration::from_secs(9));
    let bytes = body.as_bytes();
    assert_eq!((bytes.len(), u64_at(bytes, 0)), (288, 9));
    let at = &bytes[32..];
    assert_eq!((u32_at(at, 0), u32_at(at, 4), u32_at(at, 16)), (0xfff, 4096, 9));
    assert_eq!((u64_at(at, 32), u64_at(at, 40), u64_at(at, 48)), (77, 1000, 2));
    assert_eq!((u64_at(at, 64), u64_at(at, 80), u64_at(at, 96), u64_at(at, 112).cast_signed()), (1, 7, 5, -3));
    assert_eq!((u32_at(at, 128), u32_at(at, 132)), (0x456, 0x1_2378));
}

#[test]
fn small_answers_have_their_sizes() {
    assert_eq!(count(7).as_bytes(), [7u32.to_ne_bytes(), [0; 4]].concat());
    assert_eq!(offset(1 << 40).as_bytes(), (1u64 << 40).to_ne_bytes());
    let full = StatFs { blocks: 1, blocks_free: 2, files: 3, files_free: 4, block_bytes: 5, name_max: 6 };
    let body = statfs(&full);
    let bytes = body.as_bytes();
    assert_eq!(bytes.len(), 80);
    assert_eq!([0, 8, 16, 24, 32].map(|at| u64_at(bytes, at)), [1, 2, 2, 3, 4]);
    assert_eq!([40, 44, 48].map(|at| u32_at(bytes, at)), [5, 6, 5]);
}
