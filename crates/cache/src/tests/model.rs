//! Random reads, prefetches and forgetting, with a tiny ceiling, against what the pieces are known to hold.

use proptest::prelude::*;

use super::support::{Fault, Store, checked, payload, source};
use crate::{Cache, DiskOptions, Error, Options};

const OBJECTS: usize = 3;
const PIECES: usize = 24;
const LEN: usize = 5_000;

#[derive(Debug, Clone)]
enum Op {
    Read(usize, Vec<usize>),
    Prefetch(usize, usize),
    Insert(usize, usize),
    Forget(usize),
    Refuse,
}

fn op() -> impl Strategy<Value = Op> {
    let object = 0..OBJECTS;
    prop_oneof![
        6 => (object.clone(), prop::collection::vec(0..PIECES, 1..PIECES)).prop_map(|(o, p)| Op::Read(o, p)),
        2 => (object.clone(), 0..PIECES).prop_map(|(o, p)| Op::Prefetch(o, p)),
        1 => (object.clone(), 0..PIECES).prop_map(|(o, p)| Op::Insert(o, p)),
        1 => object.prop_map(Op::Forget),
        1 => Just(Op::Refuse),
    ]
}

async fn check(ops: Vec<Op>, memory_bytes_max: u64, disk: Option<DiskOptions>) {
    let store = Store::new();
    let mut objects = Vec::new();
    for id in 0..OBJECTS {
        objects.push(store.object(id as u128, PIECES, LEN, id * 30_000).await);
    }
    let options = Options { disk, fetches_max: 2, fetch_bytes_max: 40_000, ..Options::new(memory_bytes_max) };
    let cache = Cache::open(source(&store), options).unwrap();
    for op in ops {
        match op {
            Op::Read(at, wanted) => {
                let (object, pieces) = &objects[at];
                let asked: Vec<_> = wanted.iter().map(|index| pieces[*index]).collect();
                match cache.read(object, &asked, checked()).await {
                    Ok(decoded) => {
                        assert_eq!(decoded.len(), wanted.len());
                        for (index, bytes) in wanted.iter().zip(&decoded) {
                            assert!(bytes == &payload(object.id, *index, LEN), "object {at} piece {index}");
                        }
                    }
                    Err(Error::Store(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            Op::Prefetch(at, from) => {
                let (object, pieces) = &objects[at];
                cache.prefetch(object.clone(), pieces[from..].to_vec(), checked());
            }
            Op::Insert(at, index) => {
                let bytes = payload(at as u128, index, LEN).into();
                cache.insert(at as u128, objects[at].1[index].offset, bytes);
            }
            Op::Forget(at) => cache.forget_object(at as u128),
            Op::Refuse => store.faults.lock().push(Fault::Refuse),
        }
        // One that is alone may go over its quarter.
        assert!(cache.usage().memory_bytes <= memory_bytes_max + 2 * (LEN as u64 + 8));
    }
    store.faults.lock().clear();
    assert_eq!(cache.fetcher_in_flight().await, 0);
    assert_eq!(cache.flights_under_way(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reads_are_right_with_a_tiny_ceiling(ops in prop::collection::vec(op(), 1..40), memory in 1u64..300_000) {
        runtime().block_on(check(ops, memory, None));
    }

    #[test]
    fn reads_are_right_with_a_tiny_disk(ops in prop::collection::vec(op(), 1..40), disk in 0u64..400_000) {
        let dir = tempfile::tempdir().unwrap();
        let disk = DiskOptions { dir: dir.path().to_path_buf(), bytes_max: disk, volume: "v".to_owned() };
        runtime().block_on(check(ops, 100_000, Some(disk)));
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}
