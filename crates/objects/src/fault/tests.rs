use crate::{FaultPlan, Injection, Odds, Verb};
use futures::StreamExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use std::sync::Arc;

/// Which of 40 puts to each of two keys fail, and which of them took effect.
async fn run(seed: u64, interleaved: bool) -> Vec<(String, usize, bool, bool)> {
    let bare: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let plan = FaultPlan::new(seed);
    plan.set(Odds { fail_before: 0.25, fail_after: 0.25, ..Odds::default() });
    let store = plan.wrap(Arc::clone(&bare));
    let mut seen = Vec::new();
    let order: Vec<(usize, &str)> = if interleaved {
        (0..40).flat_map(|n| [(n, "a"), (n, "b")]).collect()
    } else {
        ["a", "b"].into_iter().flat_map(|key| (0..40).map(move |n| (n, key))).collect()
    };
    for (n, key) in order {
        let path = Path::from(key);
        let bytes = n.to_string();
        let failed = store.put(&path, bytes.clone().into()).await.is_err();
        let effect = match bare.get(&path).await {
            Ok(found) => found.bytes().await.unwrap() == bytes,
            Err(_) => false,
        };
        seen.push((key.to_owned(), n, failed, effect));
    }
    seen.sort();
    seen
}

#[tokio::test]
async fn the_same_seed_gives_the_same_faults_whatever_the_order_of_keys() {
    let first = run(1, false).await;
    assert_eq!(first, run(1, true).await);
    assert_ne!(first, run(2, false).await);
}

#[tokio::test]
async fn a_fault_before_has_no_effect_and_one_after_has() {
    let seen = run(3, true).await;
    let count = |failed, effect| seen.iter().filter(|it| (it.2, it.3) == (failed, effect)).count();
    assert_eq!(count(false, false), 0, "what is acknowledged took effect");
    for (failed, effect) in [(true, false), (true, true), (false, true)] {
        assert!(count(failed, effect) >= 8, "{failed} {effect}: {seen:?}");
    }
}

#[tokio::test]
async fn bodies_are_cut_and_flipped() {
    let plan = FaultPlan::new(1);
    let store = plan.wrap(Arc::new(InMemory::new()));
    let key = Path::from("k");
    store.put(&key, vec![0u8; 100].into()).await.unwrap();
    plan.next(Verb::Get, "k", Injection::Cut);
    assert!(store.get(&key).await.unwrap().bytes().await.is_err());
    plan.next(Verb::Get, "k", Injection::CutSilently);
    let mut got = 0;
    let mut body = store.get(&key).await.unwrap().into_stream();
    while let Some(chunk) = body.next().await {
        got += chunk.unwrap().len();
    }
    assert_eq!(got, 50);
    plan.next(Verb::Get, "k", Injection::Flip);
    let flipped = store.get(&key).await.unwrap().bytes().await.unwrap();
    assert_eq!(flipped.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
    let counts = plan.counts();
    assert_eq!((counts.cut, counts.flipped), (2, 1));
}

#[tokio::test]
async fn what_befalls_each_request_ends_when_it_is_ended() {
    let plan = FaultPlan::new(1);
    let store = plan.wrap(Arc::new(InMemory::new()));
    let (refused, other) = (Path::from("meta/k"), Path::from("data/k"));
    plan.each(Verb::Put, "meta/", Injection::Refuse);
    for _ in 0..2 {
        let put = store.put(&refused, "x".into()).await;
        assert!(matches!(put, Err(object_store::Error::PermissionDenied { .. })), "{put:?}");
    }
    store.put(&other, "x".into()).await.unwrap();
    store.head(&refused).await.unwrap_err();
    plan.end_each();
    store.put(&refused, "x".into()).await.unwrap();
}
