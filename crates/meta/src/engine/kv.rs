//! The ordered key-value store in the bucket: SlateDB, and nothing else in Stoa knows it.
//!
//! SlateDB polls, flushes, compacts and collects on timers of its own; an idle volume must not touch the store, so all of them are
//! off, and [`Kv::flush`] and [`super::upkeep`] do that work when there is some.

use super::chunked::chunked;
use super::limits::Limits;
use super::refusals::Refusals;
use super::sealed::{Damaged, Fences, sealed};
use crate::record::Key;
use crate::{Error, Result};
use bytes::Bytes;
use object_store::ObjectStore;
use object_store::path::Path;
use slatedb::admin::{Admin, AdminBuilder};
use slatedb::config::{CloseOptions, FlushOptions, FlushType, ScanOptions, Settings};
use slatedb::db_cache::moka::{MokaCache, MokaCacheOptions};
use slatedb::{CloseReason, Db, DbIterator, DbSnapshot, ErrorKind, WriteBatch};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where the engine keeps its files, under the prefix of the volume.
const FOLDER: &str = "meta";

/// Longer than any mount lives: the timer that it stands for is off.
const NEVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Bytes that a scan asks for in one request; a short one asks for less, or it would go through far more blocks than it shows.
const SCAN_AHEAD_BYTES: usize = 1 << 20;

/// The least that a scan asks for.
const SCAN_AHEAD_BYTES_MIN: usize = 16 << 10;

/// No scan is short that shows so many records.
const SCAN_SHORT: usize = 512;

/// How long a read waits for a table that is missing.
const SEARCH_MAX: Duration = Duration::from_secs(30);

/// Between two tries of such a read.
const SEARCH_REST: Duration = Duration::from_millis(500);

/// Requests that a scan has under way at once.
const SCAN_FETCHES: usize = 4;

/// An open key-value store, and the only writer of it.
pub(super) struct Kv {
    db: Db,
    admin: Admin,
    refusals: Arc<Refusals>,
}

impl Kv {
    /// Opens the store, or makes it, and shuts out whoever had it open.
    pub(super) async fn open(
        store: Arc<dyn ObjectStore>,
        cache_bytes: u64,
        limits: &Limits,
        fences: Fences,
    ) -> Result<Self> {
        let settings = Settings {
            flush_interval: None,
            manifest_poll_interval: NEVER,
            l0_sst_size_bytes: limits.table_bytes,
            max_unflushed_bytes: limits.unflushed_bytes,
            // What stalls writers; upkeep starts to merge at a quarter of it.
            l0_max_ssts: super::upkeep::TABLES_MAX,
            l0_max_ssts_per_key: super::upkeep::TABLES_MAX,
            compactor_options: None,
            garbage_collector_options: None,
            ..Settings::default()
        };
        // Half for blocks that were used, half for what lies beside them.
        let max_capacity = cache_bytes / 2;
        let cache = MokaCache::new_with_opts(MokaCacheOptions { max_capacity, ..MokaCacheOptions::default() });
        let refusals = Arc::<Refusals>::default();
        let watched = refusals.watch(Arc::clone(&store));
        let db = Db::builder(Path::from(FOLDER), sealed(chunked(watched, cache_bytes - max_capacity), fences))
            .with_settings(settings)
            .with_db_cache(Arc::new(cache), 0)
            .build()
            .await
            .map_err(translate)?;
        // Not watched: care that is refused keeps no commit waiting by itself, and may give up without ever being accepted.
        let admin = AdminBuilder::new(Path::from(FOLDER), sealed(store, fences)).build();
        Ok(Self { db, admin, refusals })
    }

    /// The value of `key`.
    pub(super) async fn get(&self, key: &Key) -> Result<Option<Bytes>> {
        let mut searched = None;
        loop {
            match self.db.get(key).await {
                Ok(value) => return Ok(value),
                Err(error) => self.search(error, &mut searched).await?,
            }
        }
    }

    /// Up to `count` records of `range`, in order.
    pub(super) async fn scan(&self, range: Range<Key>, count: usize) -> Result<Vec<(Key, Bytes)>> {
        if range.start >= range.end {
            return Ok(Vec::new());
        }
        let mut searched = None;
        loop {
            match gather(self.db.scan_with_options(range.clone(), &scan_options(count)).await, count).await {
                Ok(records) => return Ok(records),
                Err(error) => self.search(error, &mut searched).await?,
            }
        }
    }

    /// Lets a read that failed try again, if it did as a table was not found. That was merged into another and collected since the list
    /// of tables was read; or the place where all objects are is away, and it is waited for. `since` is when the first try failed.
    ///
    /// # Errors
    /// Of all other reads; and [`Error::Missing`] when it has taken too long.
    async fn search(&self, error: slatedb::Error, since: &mut Option<Instant>) -> Result<()> {
        let Some(missing) = missing(&error) else { return Err(translate(error)) };
        match *since {
            Some(since) if since.elapsed() >= SEARCH_MAX => return Err(Error::Missing(missing)),
            Some(_) => {}
            None => {
                *since = Some(Instant::now());
                // The first time there is no reason to wait.
                if self.refresh().await.is_ok() {
                    return Ok(());
                }
            }
        }
        self.refusals.missing(&missing);
        tokio::time::sleep(SEARCH_REST).await;
        if let Err(error) = self.refresh().await {
            tracing::debug!(%error, "the list of tables can't be read, either");
        }
        Ok(())
    }

    /// The records as they are now, whatever is written later.
    pub(super) fn snapshot(&self) -> Result<Snapshot> {
        self.db.snapshot().map(Snapshot).map_err(translate)
    }

    /// Makes the changes visible, all at once; [`Kv::flush`] makes them durable.
    pub(super) async fn write(&self, changes: impl IntoIterator<Item = (Key, Option<Bytes>)>) -> Result<()> {
        let mut batch = WriteBatch::new();
        for (key, value) in changes {
            match value {
                Some(value) => batch.put(key, value),
                None => batch.delete(key),
            }
        }
        self.db.write(batch).await.map_err(translate)?;
        Ok(())
    }

    /// Returns once all that was written is in the object store.
    pub(super) async fn flush(&self) -> Result<()> {
        self.db.flush().await.map_err(translate)
    }

    /// Tables not merged yet: reads get slower with their number, and writes wait at [`super::upkeep::TABLES_MAX`].
    pub(super) fn unmerged_tables(&self) -> usize {
        self.db.manifest().l0().len()
    }

    /// Sees what a compaction did.
    pub(super) async fn refresh(&self) -> Result<()> {
        self.db.refresh_manifest().await.map_err(translate)
    }

    /// What the store refuses, of what commits and reads need.
    pub(super) fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// Compaction and collection of the engine's own files.
    pub(super) fn admin(&self) -> &Admin {
        &self.admin
    }

    /// Writes what is in memory as a table, so that the next open has no log to replay, and closes. Where there is no room for a table,
    /// and nobody to make some any more, the log stays.
    pub(super) async fn close(&self) -> Result<()> {
        if self.unmerged_tables() < super::upkeep::TABLES_MAX {
            self.db.flush_with_options(FlushOptions { flush_type: FlushType::MemTable }).await.map_err(translate)?;
        }
        self.db.close_with_options(CloseOptions::default().with_flush_type(None)).await.map_err(translate)
    }
}

/// The records of one moment.
pub(super) struct Snapshot(Arc<DbSnapshot>);

impl Snapshot {
    /// Up to `count` records of `range`, in order.
    pub(super) async fn scan(&self, range: Range<Key>, count: usize) -> Result<Vec<(Key, Bytes)>> {
        gather(self.0.scan_with_options(range, &scan_options(count)).await, count).await.map_err(translate)
    }
}

fn scan_options(count: usize) -> ScanOptions {
    let part = SCAN_AHEAD_BYTES * count.min(SCAN_SHORT) / SCAN_SHORT;
    ScanOptions {
        read_ahead_bytes: part.max(SCAN_AHEAD_BYTES_MIN),
        max_fetch_tasks: SCAN_FETCHES,
        cache_blocks: true,
        ..ScanOptions::default()
    }
}

async fn gather(
    found: std::result::Result<DbIterator, slatedb::Error>,
    count: usize,
) -> std::result::Result<Vec<(Key, Bytes)>, slatedb::Error> {
    let mut found = found?;
    let mut records = Vec::new();
    while records.len() < count {
        match found.next().await? {
            Some(record) => records.push((record.key, record.value)),
            None => break,
        }
    }
    Ok(records)
}

impl std::fmt::Debug for Kv {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kv").finish_non_exhaustive()
    }
}

/// Says what an error of SlateDB means here.
pub(super) fn translate(error: slatedb::Error) -> Error {
    if let Some(damaged) = damaged(&error) {
        return Error::Corrupt(damaged.to_string());
    }
    if let Some(missing) = missing(&error) {
        return Error::Missing(missing);
    }
    match error.kind() {
        ErrorKind::Closed(CloseReason::Fenced) => Error::Fenced,
        ErrorKind::Data => Error::Corrupt(error.to_string()),
        _ => Error::Engine(error.to_string()),
    }
}

/// The object whose damage is behind an error, if that is what happened.
fn damaged<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a Damaged> {
    causes(error).find_map(|cause| cause.downcast_ref())
}

/// The object that was not found, if that is what happened.
fn missing(error: &slatedb::Error) -> Option<String> {
    causes(error).find_map(|cause| {
        let shared = cause.downcast_ref::<Arc<object_store::Error>>().map(AsRef::as_ref);
        match shared.or_else(|| cause.downcast_ref())? {
            object_store::Error::NotFound { path, .. } => Some(path.clone()),
            _ => None,
        }
    })
}

fn causes<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}
