use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::FutureExt;
use rand::{Rng, SeedableRng};

use super::Budget;

#[test]
fn what_is_taken_is_given_back() {
    let budget = Budget::new(100);
    let mut first = budget.try_reserve(60).unwrap();
    assert!(budget.try_reserve(41).is_none());
    let second = budget.try_reserve(40).unwrap();
    assert_eq!(budget.used(), 100);
    first.shrink(10);
    first.shrink(50);
    assert_eq!((first.bytes(), budget.used()), (10, 50));
    let part = first.split(4);
    assert_eq!((first.bytes(), part.bytes(), budget.used()), (6, 4, 50));
    first.merge(second).unwrap();
    assert_eq!((first.bytes(), budget.used()), (46, 50));
    drop(first);
    assert_eq!(budget.used(), 4);
    drop(part);
    assert_eq!(budget.used(), 0);
}

#[test]
fn reservations_of_two_budgets_do_not_merge() {
    let (one, other) = (Budget::new(10), Budget::new(10));
    let mut reservation = one.try_reserve(5).unwrap();
    let back = reservation.merge(other.try_reserve(5).unwrap()).unwrap_err();
    assert_eq!((reservation.bytes(), back.bytes()), (5, 5));
    drop(back);
    assert_eq!((one.used(), other.used()), (5, 0));
}

#[test]
fn splitting_off_more_than_there_is_takes_all() {
    let budget = Budget::new(10);
    let mut reservation = budget.try_reserve(5).unwrap();
    let all = reservation.split(50);
    assert_eq!((reservation.bytes(), all.bytes(), budget.used()), (0, 5, 5));
}

#[tokio::test]
async fn the_first_to_come_is_served_first() {
    let budget = Budget::new(100);
    let held = budget.reserve(50).await;
    let mut large = Box::pin(budget.reserve(80));
    assert!((&mut large).now_or_never().is_none());
    assert!(budget.try_reserve(10).is_none(), "nobody overtakes one who waits");
    let mut small = Box::pin(budget.reserve(10));
    assert!((&mut small).now_or_never().is_none());
    drop(held);
    let large = large.now_or_never().unwrap();
    let small = small.now_or_never().unwrap();
    assert_eq!((large.bytes(), small.bytes(), budget.used()), (80, 10, 90));
}

#[tokio::test]
async fn one_who_stops_waiting_makes_way() {
    let budget = Budget::new(100);
    let held = budget.reserve(50).await;
    let mut large = Box::pin(budget.reserve(80));
    assert!((&mut large).now_or_never().is_none());
    let mut small = Box::pin(budget.reserve(10));
    assert!((&mut small).now_or_never().is_none());
    drop(large);
    assert_eq!(small.now_or_never().unwrap().bytes(), 10);
    drop(held);
    assert_eq!(budget.used(), 0);
}

#[tokio::test]
async fn one_who_goes_away_when_just_served_gives_it_back() {
    let budget = Budget::new(100);
    let held = budget.reserve(100).await;
    let mut waiting = Box::pin(budget.reserve(70));
    assert!((&mut waiting).now_or_never().is_none());
    let mut next = Box::pin(budget.reserve(60));
    assert!((&mut next).now_or_never().is_none());
    drop(held);
    assert_eq!(budget.used(), 70);
    drop(waiting);
    assert_eq!(next.now_or_never().unwrap().bytes(), 60);
    assert_eq!(budget.used(), 0);
}

#[tokio::test]
async fn more_than_everything_is_granted_alone() {
    let budget = Budget::new(100);
    let held = budget.reserve(1).await;
    let mut huge = Box::pin(budget.reserve(1000));
    assert!((&mut huge).now_or_never().is_none());
    drop(held);
    let huge = huge.now_or_never().unwrap();
    assert_eq!(huge.bytes(), 1000);
    assert!(budget.try_reserve(1).is_none());
    drop(huge);
    assert!(budget.try_reserve(100).is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_tasks_never_go_over_and_all_come_through() {
    let budget = Budget::new(1000);
    let over = Arc::new(AtomicU64::new(0));
    let mut tasks = Vec::new();
    for seed in 0..50 {
        let (budget, over) = (budget.clone(), Arc::clone(&over));
        tasks.push(tokio::spawn(async move {
            let mut random = rand::rngs::StdRng::seed_from_u64(seed);
            for _ in 0..100 {
                let bytes = random.random_range(0..600);
                let wait = Duration::from_micros(random.random_range(0..50));
                // Some give up while they wait.
                if let Ok(mut taken) = tokio::time::timeout(wait * 100, budget.reserve(bytes)).await {
                    over.fetch_max(budget.used(), Ordering::Relaxed);
                    let half = taken.split(bytes / 2);
                    tokio::task::yield_now().await;
                    drop(taken);
                    drop(half);
                }
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let peak = over.load(Ordering::Relaxed);
    assert!((600..=1000).contains(&peak), "{peak}");
    assert_eq!(budget.used(), 0);
}
