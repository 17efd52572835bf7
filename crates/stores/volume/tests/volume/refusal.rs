//! A store that refuses what is written: fsync says so before long, nothing is lost, and all goes on once it is accepted.

use crate::world::{self, File, LARGE, Store, assert_clean, content, find, formatted, make, noise};
use bytes::Bytes;
use futures::StreamExt;
use object_store::path::Path;
use std::sync::Arc;
use std::time::Duration;
use stoa_objects::{FaultPlan, Health, Injection, Retry, RetryPolicy, Verb};
use stoa_vfs::{Error, Ino, SetAttr, Vfs, XattrMode};
use stoa_volume::{OpenOptions, Volume};

/// What must not wait for ever is done by then, also on a machine under load.
const SOON: Duration = Duration::from_secs(30);

/// Shorter than what lives in the namespace: only the namespace's own objects are written.
const SMALL: usize = 1000;

/// A segment is sealed when it is this full.
const SEGMENT: usize = 16 << 20;

struct Refusing {
    base: Store,
    plan: FaultPlan,
    volume: Arc<Volume>,
}

fn options() -> OpenOptions {
    OpenOptions { take_over: true, commit_interval: Duration::from_millis(50), ..world::options() }
}

impl Refusing {
    async fn open() -> Self {
        let base = formatted().await;
        let plan = FaultPlan::new(1);
        // A right that is missing is waited for only so long; everything else as in a mount.
        let policy = RetryPolicy { mend: Duration::from_millis(200), ..RetryPolicy::default() };
        let store = Arc::new(Retry::new(plan.wrap(Arc::clone(&base)), policy, Health::default()));
        let volume = Volume::open(store, options()).await.unwrap();
        Self { base, plan, volume }
    }

    async fn write(&self, called: &str, data: Bytes) -> File {
        let file = make(&self.volume, called).await;
        world::write(&self.volume, file, 0, data).await;
        file
    }

    /// What fsync returns, and that it returns.
    async fn fsync(&self, ino: Ino) -> Result<(), Error> {
        let synced = tokio::time::timeout(SOON, self.volume.fsync(ino)).await;
        synced.unwrap_or_else(|_| panic!("fsync waits for ever"))
    }

    async fn expect_refusal(&self, ino: Ino) {
        let refused = self.fsync(ino).await;
        assert!(matches!(&refused, Err(Error::Io(why)) if why.contains("access denied")), "{refused:?}");
    }

    /// Without any help fsync succeeds again, and what was refused is found by the next owner.
    async fn expect_recovery(self, called: &str, ino: Ino, data: &Bytes) {
        self.plan.end_each();
        let accepted = async {
            while self.fsync(ino).await.is_err() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(SOON, accepted).await.unwrap_or_else(|_| panic!("fsync goes on failing"));
        self.expect_found(called, data).await;
    }

    /// The next owner finds the file, whatever this one would still do.
    async fn expect_found(self, called: &str, data: &Bytes) {
        self.plan.kill_silently();
        self.volume.abandon();
        let recovered = world::open(&self.base, options()).await;
        let file = find(&recovered, called).await;
        assert_eq!(content(&recovered, file).await, *data);
        assert_clean(&recovered).await;
        recovered.close().await.unwrap();
    }
}

async fn fsync_fails_while_metadata_is_refused(len: usize) {
    let test = Refusing::open().await;
    let data = noise(1, len);
    test.plan.each(Verb::Put, "meta/", Injection::Refuse);
    let (ino, handle) = test.write("file", data.clone()).await;
    for _ in 0..3 {
        test.expect_refusal(ino).await;
        test.expect_refusal(Ino::ROOT).await;
    }
    assert_eq!(content(&test.volume, (ino, handle)).await, data);
    test.volume.setattr(ino, &SetAttr { mode: Some(0o600), ..Default::default() }).await.unwrap();
    let status = test.volume.status();
    assert!(status.last_error.is_some_and(|why| why.contains("access denied")));
    assert!(status.uncommitted_operations > 0, "what is refused counts as durable");
    test.expect_recovery("file", ino, &data).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fsync_of_a_small_file_fails_while_metadata_is_refused() {
    fsync_fails_while_metadata_is_refused(SMALL).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fsync_of_a_large_file_fails_while_metadata_is_refused() {
    fsync_fails_while_metadata_is_refused(LARGE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fsync_fails_while_more_is_pending_than_may_be() {
    let test = Refusing::open().await;
    let before = noise(1, SMALL);
    let (ino, handle) = test.write("file", before.clone()).await;
    test.plan.each(Verb::Put, "meta/", Injection::Refuse);
    // Until changes wait for room; the commit under way keeps what it has taken.
    let value = noise(2, 60_000);
    for number in 0_u32.. {
        let attribute = format!("user.{number}");
        let set = test.volume.setxattr(ino, attribute.as_bytes(), value.clone(), XattrMode::Set, false);
        match tokio::time::timeout(Duration::from_secs(1), set).await {
            Ok(set) => set.unwrap(),
            Err(_) => break,
        }
        assert!(number < 10_000, "there is no limit to what is pending");
    }
    // Its access time is older than its content, and nobody waits for that to change.
    let reading = tokio::time::timeout(SOON, content(&test.volume, (ino, handle))).await;
    assert_eq!(reading.unwrap_or_else(|_| panic!("a read waits for the store")), before);
    let data = noise(3, SMALL);
    world::write(&test.volume, (ino, handle), 0, data.clone()).await;
    test.expect_refusal(ino).await;
    test.expect_recovery("file", ino, &data).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_syncs_gets_there_by_itself_after_a_refusal() {
    let test = Refusing::open().await;
    test.plan.each(Verb::Put, "meta/", Injection::Refuse);
    let (ino, _) = test.write("file", noise(1, SMALL)).await;
    test.expect_refusal(ino).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    // No file is dirty: this is left to whoever commits the names.
    test.volume.setattr(ino, &SetAttr { mode: Some(0o600), ..Default::default() }).await.unwrap();
    test.plan.end_each();
    let committed = async {
        while test.volume.status().uncommitted_operations > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(SOON, committed).await.unwrap_or_else(|_| panic!("nothing is committed any more"));
    test.expect_found("file", &noise(1, SMALL)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_read_while_a_copy_of_them_waits_for_the_store() {
    let test = Refusing::open().await;
    let data = noise(1, LARGE);
    test.plan.outage(true);
    let (from, to) = (test.write("from", data.clone()).await, test.write("to", data.clone()).await);
    let (volume, len) = (Arc::clone(&test.volume), LARGE as u64);
    let copying = tokio::spawn(async move { volume.copy_range(from.0, 0, to.0, 0, len).await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!copying.is_finished(), "copied, with nothing in the store");
    for file in [from, to] {
        let reading = tokio::time::timeout(SOON, content(&test.volume, file)).await;
        assert_eq!(reading.unwrap_or_else(|_| panic!("a read waits for the store")), data);
    }
    test.plan.outage(false);
    let copied = tokio::time::timeout(SOON, copying).await.unwrap_or_else(|_| panic!("the copy waits for ever"));
    assert_eq!(copied.unwrap(), Ok(len));
    test.volume.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn close_goes_on_while_metadata_is_refused() {
    let test = Refusing::open().await;
    let data = noise(1, LARGE);
    test.plan.each(Verb::Put, "meta/", Injection::Refuse);
    let (ino, _) = test.write("file", data.clone()).await;
    test.expect_refusal(ino).await;
    let volume = Arc::clone(&test.volume);
    let closing = tokio::spawn(async move { volume.close().await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!closing.is_finished(), "closed, with nothing durable");
    test.plan.end_each();
    tokio::time::timeout(SOON, closing).await.unwrap_or_else(|_| panic!("close waits for ever")).unwrap().unwrap();
    test.expect_found("file", &data).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fsync_waits_while_the_store_is_away() {
    let test = Refusing::open().await;
    test.plan.outage(true);
    let (ino, _) = test.write("file", noise(1, SMALL)).await;
    let early = tokio::time::timeout(Duration::from_secs(2), test.volume.fsync(ino)).await;
    assert!(early.is_err(), "fsync returned {early:?} while the store was away");
    test.plan.outage(false);
    test.fsync(ino).await.unwrap();
    test.expect_recovery("file", ino, &noise(1, SMALL)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_segment_that_arrives_says_nothing_of_one_that_is_refused() {
    let test = Refusing::open().await;
    let first = "data/00/";
    test.plan.each(Verb::Put, first, Injection::Refuse);
    let (ino, _) = test.write("file", noise(1, LARGE)).await;
    test.expect_refusal(ino).await;
    // From here on it is not even refused: who asks has nothing else to go by.
    test.plan.each(Verb::Put, first, Injection::Hang);
    test.write("other", noise(2, SEGMENT + LARGE)).await;
    let second = Path::from("data/01");
    let arrived = async {
        while test.base.list(Some(&second)).next().await.is_none() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(SOON, arrived).await.unwrap_or_else(|_| panic!("no other segment arrives"));
    tokio::time::sleep(Duration::from_millis(200)).await;
    test.expect_refusal(ino).await;
}
