use super::{Store, WANTED, negotiate};
use crate::MountOptions;
use stoa_vfs::CachePolicy;
use stoa_wire_fuse::Init;
use stoa_wire_fuse::flags::init as flag;

const EXCLUSIVE: CachePolicy = CachePolicy { exclusive: true, content_stays: true, ttl_ms: 0, read_only: false };

fn agreed(offer: u64, policy: CachePolicy) -> u64 {
    let offer = Init { minor: 45, readahead_bytes_max: 131_072, flags: offer };
    negotiate(&offer, Store { policy, acls: true }, &MountOptions::default()).1.flags
}

#[test]
fn nothing_is_agreed_that_was_not_offered() {
    for bit in 0..64 {
        assert_eq!(agreed(1 << bit, EXCLUSIVE) & !(1 << bit), 0, "bit {bit}");
    }
    assert_eq!(agreed(u64::MAX, EXCLUSIVE) & WANTED, WANTED);
}

#[test]
fn pages_are_held_back_by_a_kernel_that_has_the_store_to_itself() {
    let caching = flag::WRITEBACK_CACHE | flag::EXPLICIT_INVAL_DATA | flag::AUTO_INVAL_DATA;
    let shared = CachePolicy { exclusive: false, content_stays: false, ttl_ms: 1000, read_only: false };
    let of_versions = CachePolicy { content_stays: true, ..shared };
    let read_only = CachePolicy { read_only: true, ..EXCLUSIVE };
    assert_eq!(agreed(u64::MAX, EXCLUSIVE) & caching, flag::WRITEBACK_CACHE | flag::EXPLICIT_INVAL_DATA);
    assert_eq!(agreed(u64::MAX, shared) & caching, flag::AUTO_INVAL_DATA);
    assert_eq!(agreed(u64::MAX, of_versions) & caching, flag::EXPLICIT_INVAL_DATA);
    assert_eq!(agreed(u64::MAX, read_only) & caching, flag::EXPLICIT_INVAL_DATA);
}

#[test]
fn what_changes_requests_is_remembered() {
    let of = |flags, policy| {
        negotiate(
            &Init { minor: 31, readahead_bytes_max: 0, flags },
            Store { policy, acls: true },
            &MountOptions::default(),
        )
        .0
    };
    assert!(of(flag::SETXATTR_EXT, EXCLUSIVE).dialect.setxattr_ext);
    assert!(!of(0, EXCLUSIVE).dialect.setxattr_ext);
    assert!(of(flag::NO_OPENDIR_SUPPORT, EXCLUSIVE).no_opendir);
    assert!(!of(flag::NO_OPENDIR_SUPPORT, CachePolicy { exclusive: false, ..EXCLUSIVE }).no_opendir);
}

#[test]
fn a_store_without_acls_is_not_asked_for_them() {
    let offer = Init { minor: 45, readahead_bytes_max: 0, flags: u64::MAX };
    let agreed = |acls| negotiate(&offer, Store { policy: EXCLUSIVE, acls }, &MountOptions::default()).1.flags;
    assert_eq!(agreed(true) ^ agreed(false), flag::POSIX_ACL);
}
