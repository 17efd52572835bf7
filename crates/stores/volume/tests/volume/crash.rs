//! Crashes at random moments, over a store that fails at random.
//!
//! Random operations run on a volume and on the model; then the store is cut off in the middle of something and the volume
//! abandoned, as by kill -9. The volume that is opened from what the store has must be clean, its names those after some
//! operation that is not before the last sync, and every file's content what it was after some operation that is not
//! before its last fsync. `STOA_CRASH_SEEDS=N` runs N seeds.

use crate::history::History;
use crate::world::{self, REGULAR, name};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::Arc;
use std::time::Duration;
use stoa_conformance::{Model, Op, Outcome, Script, State, apply, snapshot};
use stoa_objects::{FaultPlan, Health, Odds, Retry, RetryPolicy};
use stoa_vfs::Vfs;
use stoa_volume::{FsckOptions, OpenOptions, Silent, Volume};

const OPERATIONS_MAX: usize = 120;

fn options(take_over: bool, commit_interval: Duration) -> OpenOptions {
    OpenOptions { take_over, commit_interval, ..world::options() }
}

fn faults() -> Odds {
    Odds { fail_before: 0.03, fail_after: 0.03, cut: 0.03, delay_max: Duration::from_millis(3), ..Odds::default() }
}

/// Open files without names are a matter of their own; here every content must be found under a name.
fn is_named(op: &Op) -> bool {
    !matches!(op, Op::MakeUnnamed { .. } | Op::LinkSlot { .. })
}

async fn crash(seed: u64) {
    let mut rng = StdRng::seed_from_u64(seed ^ 0xc0ff_ee00);
    let base = world::formatted().await;
    let model = Model::new();
    let mut history = History::new(&model).await;
    let script = Script::generate(seed, OPERATIONS_MAX).ops.into_iter().filter(is_named);
    let plan = FaultPlan::new(rng.random());
    let retry = Retry::new(plan.wrap(Arc::clone(&base)), RetryPolicy::default(), Health::default());
    let volume = Volume::open(Arc::new(retry), options(true, Duration::from_millis(20))).await.unwrap();
    plan.set(faults());
    let ops: Vec<Op> = script.take(rng.random_range(1..OPERATIONS_MAX)).collect();
    run(&volume, &model, &mut history, ops).await;
    tokio::time::sleep(Duration::from_micros(rng.random_range(0..30_000))).await;
    plan.kill_silently();
    volume.abandon();
    drop(volume);
    let recovered = Volume::open(Arc::clone(&base), options(true, Duration::from_secs(1))).await.unwrap();
    let report = recovered.fsck(FsckOptions { data: true, repair: false }, &Silent).await.unwrap();
    assert_eq!(report.problems, [], "seed {seed}: the volume is not clean after a crash");
    recovered.gc(&Silent).await.unwrap();
    let report = recovered.fsck(FsckOptions { data: true, repair: false }, &Silent).await.unwrap();
    assert_eq!(report.problems, [], "seed {seed}: the volume is not clean after a collection");
    assert_eq!(report.orphan_segments, 0, "seed {seed}: a collection left orphans");
    let found = snapshot(recovered.as_ref()).await.unwrap();
    if let Err(why) = history.explains(&found) {
        panic!("seed {seed}: {why}");
    }
    recovered.close().await.unwrap();
}

/// Does the operations on both, and notes what each was and what is durable by then.
async fn run(volume: &Arc<Volume>, model: &Model, history: &mut History, ops: Vec<Op>) {
    let (mut on_volume, mut on_model) = (State::new(), State::new());
    for op in ops {
        let got = apply(&op, volume.as_ref(), &mut on_volume).await;
        let expected = apply(&op, model, &mut on_model).await;
        assert_eq!(got, expected, "{op:?}");
        history.push(model, &op, got == Outcome::Done).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost() {
    let seeds = std::env::var("STOA_CRASH_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(40);
    for seed in 0..seeds {
        let run = tokio::time::timeout(Duration::from_secs(120), crash(seed)).await;
        assert!(run.is_ok(), "seed {seed} did not end");
        if seed % 100 == 99 {
            println!("{} seeds", seed + 1);
        }
    }
}

#[tokio::test]
async fn a_fenced_mount_refuses_to_write_and_to_say_that_it_did() {
    let store = world::formatted().await;
    let first = Volume::open(Arc::clone(&store), options(false, Duration::from_secs(60))).await.unwrap();
    let second = Volume::open(Arc::clone(&store), options(true, Duration::from_secs(60))).await.unwrap();
    let name = name("late");
    let root = stoa_vfs::Ino::ROOT;
    drop(first.make(stoa_vfs::Caller::ROOT, root, &name, &REGULAR).await);
    assert_eq!(first.fsync(root).await, Err(stoa_vfs::Error::Fenced));
    assert_eq!(first.make(stoa_vfs::Caller::ROOT, root, &name, &REGULAR).await, Err(stoa_vfs::Error::Fenced));
    assert_eq!(first.status().fenced.as_deref(), Some("a newer mount owns the volume"));
    assert_eq!(second.lookup(root, &name).await, Err(stoa_vfs::Error::NotFound));
    second.make(stoa_vfs::Caller::ROOT, root, &name, &REGULAR).await.unwrap();
    second.fsync(root).await.unwrap();
    first.close().await.unwrap_err();
    second.close().await.unwrap();
}

#[tokio::test]
async fn a_mount_that_was_shut_out_unawares_does_not_check_what_it_remembers() {
    let store = world::formatted().await;
    let first = Volume::open(Arc::clone(&store), options(false, Duration::from_secs(60))).await.unwrap();
    first.fsck(FsckOptions::default(), &Silent).await.unwrap();
    let second = Volume::open(Arc::clone(&store), options(true, Duration::from_secs(60))).await.unwrap();
    assert_eq!(first.status().fenced, None);
    for refused in [first.fsck(FsckOptions::default(), &Silent).await.map(drop), first.gc(&Silent).await.map(drop)] {
        assert!(matches!(refused, Err(stoa_volume::Error::Fenced(_))), "{refused:?}");
    }
    assert!(first.status().fenced.is_some());
    second.gc(&Silent).await.unwrap();
    second.close().await.unwrap();
}

#[tokio::test]
async fn a_reader_that_was_shut_out_has_nothing_to_lose() {
    let store = world::formatted().await;
    let reading = OpenOptions { read_only: true, ..options(false, Duration::from_secs(60)) };
    let reader = Volume::open(Arc::clone(&store), reading).await.unwrap();
    let second = Volume::open(Arc::clone(&store), options(true, Duration::from_secs(60))).await.unwrap();
    reader.fsck(FsckOptions::default(), &Silent).await.unwrap_err();
    reader.close().await.unwrap();
    second.close().await.unwrap();
}
