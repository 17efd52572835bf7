use super::{from_wire, to_wire};
use stoa_vfs::{Attr, Error, Ino, Kind, SetAttr, SetTime, Timestamp};
use stoa_wire_fuse as wire;
use stoa_wire_fuse::flags::setattr as valid;

const TIME: wire::Time = wire::Time { secs: -5, nanos: 6 };

fn asked(valid: u32, time: wire::Time) -> wire::SetAttr {
    wire::SetAttr { valid, mode: 0o100_4755, uid: 1, gid: 2, size: 3, atime: time, mtime: time, ctime: time }
}

fn set(valid: u32) -> SetAttr {
    from_wire(&asked(valid, TIME)).unwrap()
}

#[test]
fn a_time_that_is_none_is_refused_if_it_is_to_be_set() {
    let none = wire::Time { secs: 1, nanos: 1_000_000_000 };
    for bit in [valid::ATIME, valid::MTIME, valid::CTIME] {
        assert!(matches!(from_wire(&asked(bit, none)), Err(Error::Invalid(_))));
        assert!(from_wire(&asked(bit, wire::Time { nanos: 999_999_999, ..none })).is_ok());
    }
    assert!(from_wire(&asked(valid::MODE | valid::ATIME | valid::ATIME_NOW, none)).is_ok());
}

#[test]
fn only_what_is_valid_is_set() {
    let at = Timestamp { secs: -5, nanos: 6 };
    let none = SetAttr::default();
    assert_eq!(set(0), none);
    assert_eq!(set(valid::MODE), SetAttr { mode: Some(0o4755), ..none.clone() });
    assert_eq!(set(valid::UID), SetAttr { uid: Some(1), ..none.clone() });
    assert_eq!(set(valid::GID), SetAttr { gid: Some(2), ..none.clone() });
    assert_eq!(set(valid::SIZE), SetAttr { size: Some(3), ..none.clone() });
    assert_eq!(set(valid::ATIME), SetAttr { atime: Some(SetTime::At(at)), ..none.clone() });
    assert_eq!(set(valid::ATIME | valid::ATIME_NOW), SetAttr { atime: Some(SetTime::Now), ..none.clone() });
    assert_eq!(set(valid::MTIME), SetAttr { mtime: Some(SetTime::At(at)), ..none.clone() });
    assert_eq!(set(valid::MTIME | valid::MTIME_NOW), SetAttr { mtime: Some(SetTime::Now), ..none.clone() });
    assert_eq!(set(valid::CTIME), SetAttr { ctime: Some(at), ..none.clone() });
    assert_eq!(set(valid::KILL_SUIDGID), SetAttr { clear_privileges: true, ..none });
}

#[test]
fn the_kind_is_part_of_the_mode() {
    let time = Timestamp { secs: 1, nanos: 2 };
    let attr = Attr {
        ino: Ino(7),
        kind: Kind::Symlink,
        mode: 0o777,
        nlink: 1,
        uid: 2,
        gid: 3,
        rdev: 0,
        size: 4,
        blocks: 5,
        atime: time,
        mtime: time,
        ctime: time,
        btime: time,
    };
    let wire = to_wire(&attr);
    assert_eq!((wire.ino, wire.mode, wire.size, wire.blocks), (7, 0o120_777, 4, 5));
}
