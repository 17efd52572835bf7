//! Care for the engine's own files: merging tables and deleting what no table list names. Runs only after commits, so that an
//! idle volume leaves the store alone.

use super::Inner;
use super::kv::translate;
use crate::Result;
use slatedb::config::{
    CompactionWorkerOptions, CompactorOptions, GarbageCollectorDirectoryOptions, GarbageCollectorOptions,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Unmerged tables at which writes wait.
pub(super) const TABLES_MAX: usize = 16;

/// Unmerged tables at which merging starts.
const TABLES_MANY: usize = 4;

/// How often a running merge looks at its own state.
const MERGE_POLL: Duration = Duration::from_millis(200);

/// The longest that one round of merging may take before the next commit starts another.
const MERGE_MAX: Duration = Duration::from_secs(120);

/// Commits between two collections of the engine's log.
const COMMITS_PER_COLLECTION: u64 = 256;

/// Nothing younger is collected: an open elsewhere may still be reading it.
const COLLECT_AGE: Duration = Duration::from_secs(300);

impl Inner {
    /// Starts a round of care in the background if one is due and none is running.
    pub(super) fn upkeep(self: &Arc<Self>) {
        let commits = self.commits.fetch_add(1, Ordering::Relaxed) + 1;
        let merge = self.kv.unmerged_tables() >= TABLES_MANY;
        if !merge && !commits.is_multiple_of(COMMITS_PER_COLLECTION) {
            return;
        }
        let Ok(turn) = Arc::clone(&self.caring).try_lock_owned() else { return };
        let engine = Arc::clone(self);
        tokio::spawn(async move {
            let _turn = turn;
            if let Err(error) = engine.care(merge).await {
                tracing::warn!(%error, "care for the metadata tables failed; it is tried again later");
            }
        });
    }

    async fn care(&self, merge: bool) -> Result<()> {
        if merge {
            self.merge_tables().await?;
        }
        self.kv.admin().run_gc_once(collection()).await.map_err(translate)
    }

    async fn merge_tables(&self) -> Result<()> {
        let stop = CancellationToken::new();
        let options = CompactorOptions {
            poll_interval: MERGE_POLL,
            commit_compacted_interval: MERGE_POLL,
            max_concurrent_compactions: 1,
            worker: Some(CompactionWorkerOptions {
                compactions_poll_interval: MERGE_POLL,
                max_concurrent_compactions: 1,
                max_subcompactions: 1,
                ..CompactionWorkerOptions::default()
            }),
            ..CompactorOptions::default()
        };
        let merging = self.kv.admin().run_compactor_with_options(stop.clone(), options);
        let watching = async {
            let start = tokio::time::Instant::now();
            while start.elapsed() < MERGE_MAX && self.stopped.get().is_none() {
                tokio::time::sleep(MERGE_POLL * 2).await;
                self.kv.refresh().await?;
                if self.kv.unmerged_tables() < TABLES_MANY {
                    break;
                }
            }
            stop.cancel();
            Ok(())
        };
        let (merged, watched) = tokio::join!(merging, watching);
        merged.map_err(translate).and(watched)
    }
}

fn collection() -> GarbageCollectorOptions {
    let files = Some(GarbageCollectorDirectoryOptions { interval: None, min_age: COLLECT_AGE, dry_run: false });
    GarbageCollectorOptions {
        manifest_options: files,
        wal_options: files,
        compacted_options: files,
        compactions_options: files,
        ..GarbageCollectorOptions::default()
    }
}
