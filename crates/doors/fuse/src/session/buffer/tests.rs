use super::{KEPT, Pool};
use std::sync::Arc;
use tokio::runtime::Handle;

/// Of one worker: four are kept for good, ten, with those in use, while they are wanted.
fn pool() -> Arc<Pool> {
    Pool::new(1, 10, Handle::current())
}

fn spare(pool: &Pool) -> usize {
    pool.spare.lock().buffers.len()
}

fn use_at_once(pool: &Arc<Pool>, count: usize) {
    let many: Vec<_> = (0..count).map(|_| pool.take()).collect();
    drop(many);
}

#[tokio::test]
async fn a_buffer_that_was_handed_over_comes_back_when_its_bytes_are_dropped() {
    let pool = pool();
    let mut buffer = pool.take();
    buffer.as_mut().extend([9; 10]);
    let bytes = buffer.freeze();
    let part = bytes.slice(..5);
    assert_eq!((bytes.len(), part[0]), (10, 9));
    drop(bytes);
    assert_eq!(spare(&pool), 0, "a part of it is still held");
    drop(part);
    assert_eq!(spare(&pool), 1);
    drop(pool.take());
    assert_eq!(spare(&pool), 1);
}

#[tokio::test]
async fn those_in_use_count() {
    let pool = pool();
    let used: Vec<_> = (0..8).map(|_| pool.take()).collect();
    use_at_once(&pool, 9);
    assert_eq!(spare(&pool), 2, "two beside the eight");
    drop(used);
    assert_eq!(spare(&pool), 10);
}

#[tokio::test(start_paused = true)]
async fn as_many_are_kept_as_are_wanted_and_few_when_none_are() {
    let pool = pool();
    use_at_once(&pool, 20);
    assert_eq!(spare(&pool), 10);
    for _ in 0..3 {
        tokio::time::sleep(KEPT).await;
        use_at_once(&pool, 7);
    }
    assert_eq!(spare(&pool), 7, "what nobody wanted for a while is freed");
    tokio::time::sleep(KEPT * 3).await;
    assert_eq!(spare(&pool), 4);
    use_at_once(&pool, 20);
    assert_eq!(spare(&pool), 10, "the next ones are watched too");
    tokio::time::sleep(KEPT * 3).await;
    assert_eq!(spare(&pool), 4);
}
