use super::*;
use crate::{FaultPlan, Injection, Verb};
use object_store::memory::InMemory;
use std::sync::{Arc, Mutex};

const OPTIONS: BenchOptions =
    BenchOptions { bytes: 10_000, object_bytes: 1_000, parallel: 3, small_objects: 7, small_bytes: 100 };

async fn left(store: &dyn ObjectStore) -> usize {
    store.list(None).try_collect::<Vec<_>>().await.unwrap().len()
}

#[tokio::test]
async fn everything_is_measured_and_nothing_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let store = crate::Directory::open(dir.path().to_owned()).unwrap();
    let stages = Mutex::new(Vec::new());
    let heard = |stage, done, total| stages.lock().unwrap().push((stage, done, total));
    let report = bench(&store, &OPTIONS, &AtomicBool::new(false), &heard).await.unwrap().unwrap();
    assert_eq!((report.put.bytes, report.get.bytes, report.listed), (10_000, 10_000, 17));
    assert_eq!((report.small_puts.len(), report.small_gets.len()), (7, 7));
    assert!(report.small_puts.is_sorted() && report.put.took > Duration::ZERO);
    assert!(stages.lock().unwrap().contains(&("large GETs", 10, 10)));
    assert_eq!(left(&store).await, 0);
    let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().contains("bench")), "{names:?}");
}

#[tokio::test]
async fn stopped_at_any_moment_it_leaves_nothing() {
    for at in 0..30 {
        let store = InMemory::new();
        let (stop, steps) = (AtomicBool::new(false), AtomicU64::new(0));
        let heard = |_, _, _| {
            if steps.fetch_add(1, Ordering::Relaxed) == at {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let report = bench(&store, &OPTIONS, &stop, &heard).await.unwrap();
        assert!(report.is_none(), "stopped at step {at}");
        assert_eq!(left(&store).await, 0, "stopped at step {at}");
    }
}

#[tokio::test]
async fn a_store_that_fails_is_an_error_and_holds_nothing_afterwards() {
    let inner: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let faults = FaultPlan::new(1);
    let store = faults.wrap(Arc::clone(&inner));
    faults.next(Verb::Put, "large-4", Injection::FailAfter);
    let error = bench(&store, &OPTIONS, &AtomicBool::new(false), &|_, _, _| {}).await.unwrap_err();
    assert!(error.to_string().contains("bench: large PUTs"), "{error}");
    assert_eq!(left(&inner).await, 0);
    faults.each(Verb::Delete, "bench", Injection::Refuse);
    let error = bench(&store, &OPTIONS, &AtomicBool::new(false), &|_, _, _| {}).await.unwrap_err();
    assert!(error.to_string().contains("by hand"), "{error}");
}
