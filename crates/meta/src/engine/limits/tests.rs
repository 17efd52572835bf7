use super::*;

#[test]
fn limits_follow_memory() {
    let small = Limits::of(16 << 20);
    assert_eq!((small.table_bytes, small.unflushed_bytes), (2 << 20, 4 << 20));
    assert_eq!((small.kick_bytes, small.wait_bytes), (1 << 20, 4 << 20));
    let large = Limits::of(64 << 30);
    assert_eq!((large.table_bytes, large.unflushed_bytes), (32 << 20, 64 << 20));
    assert_eq!((large.kick_bytes, large.wait_bytes), (16 << 20, 64 << 20));
    assert_eq!(Limits::of(0).table_bytes, 1 << 20);
}
