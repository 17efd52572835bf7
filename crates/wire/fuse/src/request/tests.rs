use super::{Create, Dialect, Header, Init, Op};
use crate::{Error, flags, opcode};
use proptest::prelude::*;

/// The dialect that the requests below were recorded in.
const EXT: Dialect = Dialect { setxattr_ext: true };

/// Requests as Linux 6.18 sent them to a mount (7.45), in hexadecimal.
const INIT: &str = "680000001a0000000200000000000000000000000000000000000000000000000000000000000000070000002d00000000000200fbffff73fd0500000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000";
const LOOKUP: &str = "2d0000000100000006000000000000000100000000000000ffffffffffffffff941a0000000000007465616d00";
const SETATTR: &str = "800000000400000004000000000000000100000000000000ffffffffffffffff941a0000000000000100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000ff41000000000000000000000000000000000000";
const MKDIR: &str =
    "3500000009000000080000000000000001000000000000000000000000000000941a000000000000ff010000120000007465616d00";
const UNLINK: &str = "2e0000000a0000000e000000000000000100000000000000fffffffffffffffff91a00000000000067686f737400";
const RENAME: &str =
    "340000000c00000030000000000000000100000000000000ffffffffffffffffed1a000000000000010000000000000061006400";
const LINK: &str =
    "350000000d00000016000000000000000100000000000000ffffffffffffffffff1a00000000000002000000000000006e616d6500";
const OPEN: &str = "300000000e00000022000000000000000200000000000000ffffffffffffffffa81a0000000000000080000000000000";
const READ: &str = "500000000f0000001e000000000000000200000000000000fffffffffffffffff31a00000000000002000000000000000010000000000000001000000000000000000000000000000180000000000000";
const WRITE: &str = "51000000100000000c000000000000000200000000000000000000000000000000000000000000000100000000000000000000000000000001000000010000000000000000000000000000000000000078";
const RELEASE: &str = "40000000120000001600000000000000020000000000000000000000000000000000000000000000010000000000000001800000000000000000000000000000";
const GETXATTR: &str = "44000000160000000a000000000000000200000000000000ffffffffffffffff951a000000000000000000000000000073656375726974792e6361706162696c69747900";
const CREATE: &str = "3d00000023000000080000000000000001000000000000000000000000000000951a00000000000041820000b6810000120000000000000066696c6500";
const INTERRUPT: &str =
    "30000000240000001f000000000000000000000000000000000000000000000000000000000000001e00000000000000";
const BATCH_FORGET: &str = "500000002a0000003e270000000000000000000000000000000000000000000000000000000000000200000000000000e5030000000000000100000000000000e6030000000000000100000000000000";
const FALLOCATE: &str = "480000002b0000000c000000000000000200000000000000ffffffffffffffffb31b0000000000000100000000000000000000000000000010270000000000000100000000000000";
const READDIRPLUS: &str = "500000002c00000016000000000000000300000000000000ffffffffffffffffd61a00000000000000000000000000000000000000000000008000000000000000000000000000000088010000000000";
const RENAME2: &str = "3c0000002d00000028000000000000000100000000000000ffffffffffffffff831b0000000000000100000000000000020000000000000061006200";
const LSEEK: &str = "400000002e00000014000000000000000200000000000000ffffffffffffffffa71b000000000000010000000000000000000000000000000400000000000000";
const TMPFILE: &str = "3a00000033000000060000000000000001000000000000000000000000000000ff1a00000000000002804100a081000012000000000000002f00";
const STATX: &str = "400000003400000012000000000000000200000000000000ffffffffffffffff951a0000000000000000000000000000000000000000000000000000ff0f0000";
const RECORDED: [&str; 21] = [
    INIT,
    LOOKUP,
    SETATTR,
    MKDIR,
    UNLINK,
    RENAME,
    LINK,
    OPEN,
    READ,
    WRITE,
    RELEASE,
    GETXATTR,
    CREATE,
    INTERRUPT,
    BATCH_FORGET,
    FALLOCATE,
    READDIRPLUS,
    RENAME2,
    LSEEK,
    TMPFILE,
    STATX,
];

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn parse(bytes: &[u8]) -> crate::Result<(Header, Op<'_>)> {
    let (header, body) = Header::parse(bytes)?;
    Ok((header, Op::parse(&header, body, EXT)?))
}

/// A request made here: `body` after a header that fits.
fn request(opcode: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(Header::len() + body.len()).unwrap().to_ne_bytes().to_vec();
    bytes.extend_from_slice(&opcode.to_ne_bytes());
    bytes.resize(Header::len(), 0);
    bytes.extend_from_slice(body);
    bytes
}

#[test]
fn a_header_says_who_asks_what_of_which_inode() {
    let bytes = bytes(MKDIR);
    let (header, body) = Header::parse(&bytes).unwrap();
    let want = Header { opcode: opcode::MKDIR, unique: 8, nodeid: 1, uid: 0, gid: 0, pid: 0x1a94 };
    assert_eq!((header, body.len()), (want, 13));
}

#[test]
fn the_first_request_carries_64_flags() {
    let bytes = bytes(INIT);
    let (_, op) = parse(&bytes).unwrap();
    let Op::Init(Init { minor, readahead_bytes_max, flags }) = op else { panic!("{op:?}") };
    assert_eq!((minor, readahead_bytes_max, flags), (45, 131_072, 0x05fd_73ff_fffb));
    assert_ne!(flags & flags::init::INIT_EXT, 0);
}

#[test]
fn recorded_requests_mean_what_was_done() {
    let names: [(&str, Op<'_>); 18] = [
        (LOOKUP, Op::Lookup { name: b"team" }),
        (MKDIR, Op::MkDir { mode: 0o777, umask: 0o22, name: b"team" }),
        (UNLINK, Op::Unlink { name: b"ghost" }),
        (RENAME, Op::Rename { name: b"a", to: 1, new_name: b"d", flags: 0 }),
        (RENAME2, Op::Rename { name: b"a", to: 1, new_name: b"b", flags: 2 }),
        (LINK, Op::Link { ino: 2, name: b"name" }),
        (OPEN, Op::Open { flags: 0x8000, open_flags: 0 }),
        (READ, Op::Read { handle: 2, offset: 4096, size: 4096 }),
        (WRITE, Op::Write { handle: 1, offset: 0, flags: flags::write::CACHE, data: b"x" }),
        (RELEASE, Op::Release { handle: 1 }),
        (GETXATTR, Op::GetXattr { name: b"security.capability", size: 0 }),
        (INTERRUPT, Op::Interrupt { unique: 0x1e }),
        (FALLOCATE, Op::Fallocate { offset: 0, len: 10_000, mode: 1 }),
        (READDIRPLUS, Op::ReadDirPlus { offset: 0, size: 32_768 }),
        (LSEEK, Op::Lseek { offset: 0, whence: 4 }),
        (STATX, Op::Statx),
        (CREATE, Op::Create(Create { flags: 0x8241, open_flags: 0, mode: 0o100_666, umask: 0o22, name: b"file" })),
        (TMPFILE, Op::TmpFile(Create { flags: 0x41_8002, open_flags: 0, mode: 0o100_640, umask: 0o22, name: b"/" })),
    ];
    for (hex, want) in names {
        assert_eq!(parse(&bytes(hex)).unwrap().1, want);
    }
    let set = bytes(SETATTR);
    let Op::SetAttr(set) = parse(&set).unwrap().1 else { panic!() };
    assert_eq!((set.valid, set.mode), (flags::setattr::MODE, 0o40_777));
    let batch = bytes(BATCH_FORGET);
    let Op::BatchForget(forgets) = parse(&batch).unwrap().1 else { panic!() };
    assert_eq!(forgets.collect::<Vec<_>>(), [(0x3e5, 1), (0x3e6, 1)]);
}

#[test]
fn a_request_that_is_cut_anywhere_is_refused() {
    for hex in RECORDED {
        let whole = bytes(hex);
        for len in 0..whole.len() {
            let mut cut = whole[..len].to_vec();
            assert!(Header::parse(&cut).is_err(), "the length is wrong");
            if len >= Header::len() {
                cut[..4].copy_from_slice(&u32::try_from(len).unwrap().to_ne_bytes());
                // All that STATX says is in its header.
                assert_eq!(parse(&cut).is_ok(), hex == STATX, "{hex} of {len} bytes");
            }
        }
    }
}

#[test]
fn lengths_inside_a_request_are_not_believed() {
    // A count of forgets, a size of data, a length of a value, of which there is nothing.
    let lies = [
        (opcode::BATCH_FORGET, [u32::MAX.to_ne_bytes(), [0; 4]].concat()),
        (opcode::WRITE, [vec![0; 16], u32::MAX.to_ne_bytes().to_vec(), vec![0; 20]].concat()),
        (opcode::SETXATTR, [u32::MAX.to_ne_bytes().to_vec(), vec![0; 12], b"user.a\0".to_vec()].concat()),
    ];
    for (opcode, body) in lies {
        assert_eq!(parse(&request(opcode, &body)), Err(Error::Truncated), "{}", opcode::name(opcode));
    }
    let mut extended = request(opcode::LOOKUP, b"name\0");
    extended[36..38].copy_from_slice(&u16::MAX.to_ne_bytes());
    assert_eq!(parse(&extended), Err(Error::Truncated));
}

#[test]
fn names_end_with_nul() {
    assert_eq!(parse(&request(opcode::LOOKUP, b"endless")), Err(Error::Name));
    assert_eq!(parse(&request(opcode::SYMLINK, b"name\0target")), Err(Error::Name));
    let symlink = request(opcode::SYMLINK, b"name\0target\0");
    assert_eq!(parse(&symlink).unwrap().1, Op::Symlink { name: b"name", target: b"target" });
}

#[test]
fn setxattr_has_two_forms() {
    let old = request(opcode::SETXATTR, b"\x03\0\0\0\x01\0\0\0user.a\0abc");
    let (header, body) = Header::parse(&old).unwrap();
    let want = |setxattr_flags| Op::SetXattr { name: b"user.a", value: b"abc", flags: 1, setxattr_flags };
    assert_eq!(Op::parse(&header, body, Dialect::default()).unwrap(), want(0));
    let new = request(opcode::SETXATTR, b"\x03\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\0user.a\0abc");
    assert_eq!(parse(&new).unwrap().1, want(flags::setxattr::ACL_KILL_SGID));
}

#[test]
fn other_protocols_are_refused() {
    for (major, minor) in [(6, 45), (8, 1), (7, 30)] {
        let mut body = [0u32; 16].map(u32::to_ne_bytes).concat();
        body[..4].copy_from_slice(&u32::to_ne_bytes(major));
        body[4..8].copy_from_slice(&u32::to_ne_bytes(minor));
        assert_eq!(parse(&request(opcode::INIT, &body)), Err(Error::Version { major, minor }));
    }
}

#[test]
fn an_operation_of_the_future_is_known_to_be_unknown() {
    for number in [0, 7, 19, 48, 54, 4096, u32::MAX] {
        assert_eq!(parse(&request(number, b"whatever")).unwrap().1, Op::Unknown);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn random_bytes_are_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn random_bodies_are_never_a_panic(
        opcode in 0..60u32,
        body in prop::collection::vec(any::<u8>(), 0..300),
        ext in any::<bool>(),
    ) {
        let bytes = request(opcode, &body);
        let (header, rest) = Header::parse(&bytes).unwrap();
        prop_assert_eq!(rest, &body[..]);
        match Op::parse(&header, rest, Dialect { setxattr_ext: ext }) {
            Ok(Op::BatchForget(forgets)) => prop_assert!(forgets.count() * 16 <= body.len()),
            Ok(Op::Write { data, .. }) => prop_assert!(data.len() + 40 <= body.len()),
            Ok(Op::Lookup { name }) => prop_assert!(name.len() < body.len() && !name.contains(&0)),
            _ => {}
        }
    }

    #[test]
    fn flipped_bits_of_real_requests_are_never_a_panic(which in 0..RECORDED.len(), at in any::<prop::sample::Index>(), bit in 0..8u8) {
        let mut bytes = bytes(RECORDED[which]);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let _ = parse(&bytes);
    }
}
