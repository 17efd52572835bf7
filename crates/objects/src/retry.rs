//! Repeats what failed and may succeed the next time, and finds out what became of a write whose answer was lost.

mod copy;
mod get;
mod list;
mod put;
mod tries;
mod upload;

use crate::Health;
use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, RenameOptions, Result,
};
pub(crate) use put::{CONFLICTS_MAX, TAG, new_tag};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
pub(crate) use tries::Tries;
pub(crate) use upload::{PartRetry, SLOW};

/// How long, and how often, a failed operation is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The wait after the first failure; it doubles with each further one. Each wait is shortened by up to half, at random.
    pub delay_min: Duration,
    /// The longest wait.
    pub delay_max: Duration,
    /// How long an operation is repeated in all; `None` means for as long as its caller waits for it.
    pub patience: Option<Duration>,
    /// How long it is repeated after a failure that a person has to mend: credentials, rights, a full disk, a certificate.
    pub mend: Duration,
    /// How long one attempt may go without progress; `None` sets no limit. A put may take longer by its size divided by
    /// [`RetryPolicy::bytes_per_second_min`].
    pub attempt: Option<Duration>,
    /// The slowest upload that is not yet taken for a hanging one.
    pub bytes_per_second_min: u64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            delay_min: Duration::from_millis(50),
            delay_max: Duration::from_secs(4),
            patience: None,
            mend: Duration::from_secs(30),
            attempt: Some(Duration::from_secs(30)),
            bytes_per_second_min: 128 * 1024,
        }
    }
}

impl RetryPolicy {
    /// The default policy, but giving up after `patience`: for commands that a person waits for.
    #[must_use]
    pub fn bounded(patience: Duration) -> Self {
        Self::default().with_patience(patience)
    }

    /// This policy, but giving up after `patience`, and at once on what a person has to mend: that is the one who waits.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience: Some(patience), mend: Duration::ZERO, ..self }
    }
}

/// A store that repeats what failed and may succeed the next time.
///
/// - Overload, timeouts, cut connections, a vanished bucket: repeated under the [`RetryPolicy`], which by default means for
///   as long as the caller waits. Dropping the future ends it.
/// - "Not found", "exists", "precondition": plain answers, returned at once.
/// - Refused credentials or rights, a full disk: repeated for a bounded time, then returned.
/// - A conditional put whose answer was lost, and whose repetition is refused, is looked at: when the object that is
///   there is our own, the put has succeeded. Our own is told by a tag in its metadata, or by its (non-empty) bytes
///   where a store keeps none. So a create succeeds for exactly one of several writers, even of empty objects.
/// - A body of up to 64 KiB is read before it is handed out, and its length checked; a longer one is streamed, and the rest
///   of it requested again when it is cut, under the condition that the object is still the same. A store that gives objects
///   neither tags nor versions leaves nobody a condition: what is read from one must be known by its content.
#[derive(Debug, Clone)]
pub struct Retry {
    core: Arc<Core>,
}

#[derive(Debug)]
struct Core {
    inner: Arc<dyn ObjectStore>,
    policy: RetryPolicy,
    health: Health,
    /// Cleared when the store turns out to keep no metadata of objects.
    tags: AtomicBool,
}

impl Retry {
    /// `inner`, repeated under `policy`, its failures recorded in `health`.
    #[must_use]
    pub fn new(inner: Arc<dyn ObjectStore>, policy: RetryPolicy, health: Health) -> Self {
        Self { core: Arc::new(Core { inner, policy, health, tags: AtomicBool::new(true) }) }
    }
}

impl Core {
    fn keeps_tags(&self) -> bool {
        self.tags.load(Ordering::Relaxed)
    }

    /// After a put that succeeded: whether it did so only without the tag.
    fn learn_tags(&self, refused_with_tag: bool) {
        if refused_with_tag {
            self.tags.store(false, Ordering::Relaxed);
        }
    }
}

impl fmt::Display for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.core.inner.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for Retry {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        put::put(&self.core, location, payload, opts).await
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        upload::begin(&self.core, location, opts).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        get::get(&self.core, location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        get::ranges(&self.core, location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        list::delete(Arc::clone(&self.core), locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        list::list(Arc::clone(&self.core), prefix.cloned(), None)
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        list::list(Arc::clone(&self.core), prefix.cloned(), Some(offset.clone()))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let mut tries = Tries::new(&self.core, "list", prefix);
        loop {
            match self.core.attempt(0, self.core.inner.list_with_delimiter(prefix)).await {
                Ok(result) => return Ok(tries.done(result)),
                Err(error) => tries.again(error).await?,
            }
        }
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        copy::copy(&self.core, from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        copy::rename(&self.core, from, to, options).await
    }
}

#[cfg(test)]
mod tests;
