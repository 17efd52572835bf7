//! Measures how fast a store is: bandwidth with large objects, latency with small ones.

use crate::{Error, Result};
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use rand::RngCore;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BenchOptions {
    /// Bytes put and got to measure bandwidth; rounded up to whole objects.
    pub bytes: u64,
    /// The size of these objects.
    pub object_bytes: usize,
    /// How many of them are under way at once. Memory is taken for one only.
    pub parallel: usize,
    /// How many small objects are put and got, one after the other.
    pub small_objects: u64,
    /// Their size.
    pub small_bytes: usize,
}

impl Default for BenchOptions {
    fn default() -> Self {
        Self { bytes: 256 << 20, object_bytes: 16 << 20, parallel: 8, small_objects: 100, small_bytes: 4 << 10 }
    }
}

/// So many bytes in such a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// How many.
    pub bytes: u64,
    /// In what time.
    pub took: Duration,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchReport {
    /// Large objects put at once.
    pub put: Moved,
    /// Large objects got at once.
    pub get: Moved,
    /// Each small PUT, shortest first.
    pub small_puts: Vec<Duration>,
    /// Each small GET, shortest first.
    pub small_gets: Vec<Duration>,
    /// How many objects were listed,
    pub listed: u64,
    /// and in what time.
    pub list: Duration,
}

/// Measures `store` under a prefix of its own, which is removed afterwards, whatever happens. When `stop` becomes true, requests
/// under way are waited for, what was made is removed, and there is no report. `heard` is told the stage, and how many of
/// how many steps are done.
///
/// Give it a store that retries for a bounded time only.
///
/// # Errors
/// As the store answers. One of removing names the prefix that is left.
pub async fn bench(
    store: &dyn ObjectStore,
    options: &BenchOptions,
    stop: &AtomicBool,
    heard: &(dyn Fn(&'static str, u64, u64) + Send + Sync),
) -> Result<Option<BenchReport>> {
    let bench = Bench {
        store,
        options,
        stop,
        heard,
        prefix: Path::from(format!(".stoa-bench-{}", uuid::Uuid::new_v4().simple())),
        objects: options.bytes.div_ceil(options.object_bytes.max(1) as u64).max(1),
    };
    let measured = bench.measure().await;
    heard("removing what was put", 0, 0);
    let removed = bench.remove().await;
    let report = measured?;
    removed.map(|()| report)
}

struct Bench<'a> {
    store: &'a dyn ObjectStore,
    options: &'a BenchOptions,
    stop: &'a AtomicBool,
    heard: &'a (dyn Fn(&'static str, u64, u64) + Send + Sync),
    prefix: Path,
    objects: u64,
}

impl Bench<'_> {
    /// None if it was stopped.
    async fn measure(&self) -> Result<Option<BenchReport>> {
        let Some(put) = self.put_large().await? else { return Ok(None) };
        let Some(get) = self.get_large().await? else { return Ok(None) };
        let mut small = vec![0; self.options.small_bytes];
        rand::rng().fill_bytes(&mut small);
        let small = Bytes::from(small);
        let Some(small_puts) = self
            .one_by_one("small PUTs", async |key: &Path| self.store.put(key, small.clone().into()).await.map(drop))
            .await?
        else {
            return Ok(None);
        };
        let Some(small_gets) = self
            .one_by_one("small GETs", async |key: &Path| self.store.get(key).await?.bytes().await.map(drop))
            .await?
        else {
            return Ok(None);
        };
        (self.heard)("LIST", 0, 0);
        let began = Instant::now();
        let listed = self.listed().await?;
        let report =
            BenchReport { put, get, small_puts, small_gets, listed: listed.len() as u64, list: began.elapsed() };
        Ok(Some(report))
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn large(&self, number: u64) -> Path {
        self.prefix.clone().join(format!("large-{number}"))
    }

    fn small(&self, number: u64) -> Path {
        self.prefix.clone().join(format!("small-{number}"))
    }

    async fn put_large(&self) -> Result<Option<Moved>> {
        let mut content = vec![0; self.options.object_bytes];
        rand::rng().fill_bytes(&mut content);
        let content = Bytes::from(content);
        self.at_once("large PUTs", async |key: &Path| {
            self.store.put(key, content.clone().into()).await?;
            Ok(content.len() as u64)
        })
        .await
    }

    async fn get_large(&self) -> Result<Option<Moved>> {
        self.at_once("large GETs", async |key: &Path| {
            let mut body = self.store.get(key).await?.into_stream();
            let mut bytes = 0;
            while let Some(chunk) = body.try_next().await? {
                bytes += chunk.len() as u64;
            }
            Ok(bytes)
        })
        .await
    }

    /// Does `one` for every large object, several at once.
    async fn at_once(
        &self,
        stage: &'static str,
        one: impl AsyncFn(&Path) -> object_store::Result<u64>,
    ) -> Result<Option<Moved>> {
        let done = AtomicU64::new(0);
        (self.heard)(stage, 0, self.objects);
        let one = async |number: u64| {
            if self.is_stopped() {
                return Ok(0);
            }
            let key = self.large(number);
            let bytes = one(&key).await.map_err(|error| Error::from_store(format!("bench: {stage}: {key}"), &error))?;
            (self.heard)(stage, done.fetch_add(1, Ordering::Relaxed) + 1, self.objects);
            Ok::<u64, Error>(bytes)
        };
        let began = Instant::now();
        let mut answers = stream::iter(0..self.objects).map(one).buffer_unordered(self.options.parallel.max(1));
        let (mut bytes, mut failed) = (0, None);
        // To the end even after an error: what is under way may still come to be, and must be there to be removed.
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(moved) => bytes += moved,
                Err(error) => {
                    failed = Some(error);
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
        }
        match failed {
            Some(error) => Err(error),
            None => Ok((!self.is_stopped()).then(|| Moved { bytes, took: began.elapsed() })),
        }
    }

    /// Does `one` for every small object, and returns how long each took.
    async fn one_by_one(
        &self,
        stage: &'static str,
        one: impl AsyncFn(&Path) -> object_store::Result<()>,
    ) -> Result<Option<Vec<Duration>>> {
        let mut times = Vec::new();
        for number in 0..self.options.small_objects {
            if self.is_stopped() {
                return Ok(None);
            }
            let key = self.small(number);
            let began = Instant::now();
            one(&key).await.map_err(|error| Error::from_store(format!("bench: {stage}: {key}"), &error))?;
            times.push(began.elapsed());
            (self.heard)(stage, number + 1, self.options.small_objects);
        }
        times.sort_unstable();
        Ok(Some(times))
    }

    async fn listed(&self) -> Result<Vec<Path>> {
        let listed = self.store.list(Some(&self.prefix)).map_ok(|meta| meta.location).try_collect().await;
        listed.map_err(|error| Error::from_store(format!("bench: listing {}", self.prefix), &error))
    }

    /// Removes every object that may have been made, and looks whether any is left.
    async fn remove(&self) -> Result<()> {
        let large = (0..self.objects).map(|number| self.large(number));
        let small = (0..self.options.small_objects).map(|number| self.small(number));
        let mut keys: Vec<Path> = large.chain(small).collect();
        for _ in 0..2 {
            let keys_of = stream::iter(std::mem::take(&mut keys).into_iter().map(Ok)).boxed();
            let mut removed = self.store.delete_stream(keys_of);
            while let Some(answer) = removed.next().await {
                match answer {
                    Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
                    Err(error) => return Err(self.left(&error)),
                }
            }
            keys = self.listed().await?;
            if keys.is_empty() {
                return Ok(());
            }
        }
        Err(Error::Unsupported {
            op: format!("bench: removing {}", self.prefix),
            detail: format!(
                "{} objects are still there after a delete that succeeded; remove them by hand",
                keys.len()
            ),
        })
    }

    fn left(&self, error: &object_store::Error) -> Error {
        Error::from_store(format!("bench: removing what was put below {} (remove it by hand)", self.prefix), error)
    }
}

#[cfg(test)]
mod tests;
