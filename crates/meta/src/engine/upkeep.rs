//! Care for the engine's own files: merging tables and deleting what no table list names. Runs only after commits, so that an
//! idle volume leaves the store alone.

use super::Inner;
use super::kv::translate;
use crate::{Error, Result};
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

/// The longest that the first round of merging may go on without having merged anything. SlateDB begins a merge that fails at once
/// again, and says nothing: it can't be told from one that takes long, so each round that follows one in vain may take twice as long.
const MERGE_MAX: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 120 });

/// After so many rounds in vain it is damage, and nothing is to be expected of the next.
const IN_VAIN_MAX: u32 = 4;

/// How long care rests then.
const LONG_REST: Duration = Duration::from_secs(30 * 60);

/// Commits between two collections of the engine's log.
const COMMITS_PER_COLLECTION: u64 = 256;

/// Nothing younger is collected: an open elsewhere may still be reading it.
const COLLECT_AGE: Duration = Duration::from_secs(300);

/// How long care rests after it failed before it tries again.
const CARE_REST: Duration = Duration::from_secs(2);

impl Inner {
    /// Starts care in the background if it is due and none is running.
    pub(super) fn upkeep(self: &Arc<Self>) {
        let commits = self.commits.load(Ordering::Relaxed);
        let collect = commits >= self.collected.load(Ordering::Relaxed).saturating_add(COMMITS_PER_COLLECTION);
        if self.closing.is_cancelled() || (!collect && !self.has_many_tables()) {
            return;
        }
        let Ok(turn) = Arc::clone(&self.caring).try_lock_owned() else { return };
        self.collected.store(commits, Ordering::Relaxed);
        let engine = Arc::clone(self);
        tokio::spawn(async move {
            let _turn = turn;
            engine.care().await;
        });
    }

    fn has_many_tables(&self) -> bool {
        self.kv.unmerged_tables() >= TABLES_MANY
    }

    /// Merges until few tables are left, however long that takes: a commit may be waiting for it, and then no other starts care again.
    async fn care(&self) {
        let mut in_vain = 0;
        loop {
            if let Err(error) = self.care_once(MERGE_MAX * 2_u32.pow(in_vain)).await {
                tracing::warn!(%error, "care for the metadata tables failed; it is tried again later");
                if matches!(error, Error::Fenced) {
                    self.stop_writing(&error);
                }
                if self.kv.unmerged_tables() >= TABLES_MAX && self.committing.try_lock().is_err() {
                    self.kv.refusals().stuck(&error);
                }
                in_vain = (in_vain + 1).min(IN_VAIN_MAX);
                let rest = if in_vain < IN_VAIN_MAX { CARE_REST } else { LONG_REST };
                self.closing.run_until_cancelled(tokio::time::sleep(rest)).await;
            } else {
                in_vain = 0;
            }
            if self.closing.is_cancelled() || self.stopped.get().is_some() || !self.has_many_tables() {
                return;
            }
        }
    }

    async fn care_once(&self, merge_max: Duration) -> Result<()> {
        if self.has_many_tables() {
            self.merge_tables(merge_max).await?;
        }
        let Ok(_nobody_visits) = self.visiting.try_write() else { return Ok(()) };
        match self.closing.run_until_cancelled(self.kv.admin().run_gc_once(collection())).await {
            Some(collected) => collected.map_err(translate),
            None => Ok(()),
        }
    }

    async fn merge_tables(&self, longest: Duration) -> Result<()> {
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
        tokio::pin!(merging);
        let merged = tokio::select! {
            ended = &mut merging => return ended.map_err(translate),
            watched = self.watch_merge(longest) => watched,
        };
        stop.cancel();
        merging.await.map_err(translate)?;
        // A last merge may have ended after the last look, and the tables it has replaced are about to be collected.
        self.kv.refresh().await?;
        merged
    }

    /// Returns when few tables are left, or when merging is to end for another reason.
    ///
    /// # Errors
    /// When there were never fewer tables for as long as `longest`.
    async fn watch_merge(&self, longest: Duration) -> Result<()> {
        let mut merged = tokio::time::Instant::now();
        let mut tables = self.kv.unmerged_tables();
        while self.stopped.get().is_none() && self.has_many_tables() {
            if self.closing.run_until_cancelled(tokio::time::sleep(MERGE_POLL * 2)).await.is_none() {
                break;
            }
            self.kv.refresh().await?;
            let before = std::mem::replace(&mut tables, self.kv.unmerged_tables());
            if tables < before {
                merged = tokio::time::Instant::now();
            }
            if merged.elapsed() >= longest {
                return Err(Error::Engine(format!(
                    "{tables} tables of the namespace wait to be merged, and none is; run `stoa fsck`"
                )));
            }
        }
        Ok(())
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

#[cfg(test)]
mod tests;
