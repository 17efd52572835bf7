use super::Pool;

#[test]
fn a_buffer_that_was_handed_over_comes_back_when_its_bytes_are_dropped() {
    let pool = Pool::new(1);
    let mut buffer = pool.take();
    buffer.as_mut().extend([9; 10]);
    let bytes = buffer.freeze();
    let part = bytes.slice(..5);
    assert_eq!((bytes.len(), part[0]), (10, 9));
    drop(bytes);
    assert_eq!(pool.spare.lock().len(), 0, "a part of it is still held");
    drop(part);
    assert_eq!(pool.spare.lock().len(), 1);
    drop(pool.take());
    assert_eq!(pool.spare.lock().len(), 1);
}

#[test]
fn no_more_buffers_are_kept_than_are_wanted() {
    let pool = Pool::new(1);
    let many: Vec<_> = (0..20).map(|_| pool.take()).collect();
    drop(many);
    assert_eq!(pool.spare.lock().len(), pool.spare_max);
}
