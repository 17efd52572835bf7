//! The store that fails.

use super::body::spoil;
use super::upload::FaultyUpload;
use super::{FaultPlan, Injection, Killed, Life};
use crate::Verb;
use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetRange, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
};
use std::fmt;
use std::future::pending;
use std::io;
use std::ops::Range;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Faulty {
    pub(super) inner: Arc<dyn ObjectStore>,
    pub(super) plan: FaultPlan,
}

fn failed(text: &'static str, kind: io::ErrorKind) -> Error {
    Error::Generic { store: "fault", source: Box::new(io::Error::new(kind, text)) }
}

impl FaultPlan {
    /// Returns while the store lives. A killed one fails or hangs here, before a request can take effect.
    pub(super) async fn alive(&self) -> Result<()> {
        let life = *self.shared.life.borrow();
        match life {
            Life::Alive => Ok(()),
            Life::Killed { hang: false } => Err(Error::Generic { store: "fault", source: Box::new(Killed) }),
            Life::Killed { hang: true } => pending().await,
        }
    }

    /// Runs `request` with what the plan has for it. A future that is not polled has no effect, which is what makes
    /// `FailBefore` and a kill during a delay safe.
    pub(super) async fn run<T>(&self, verb: Verb, key: &Path, request: impl Future<Output = Result<T>>) -> Result<T> {
        let injection = self.before(verb, key).await?;
        let result = request.await;
        // Killed while the answer was on its way: the effect is there, but nobody learns of it.
        self.alive().await?;
        let result = result?;
        match injection {
            Some(fault @ (Injection::FailAfter | Injection::OkWithErrorAfter)) => {
                self.count(fault);
                Err(failed("injected: the answer was lost", io::ErrorKind::ConnectionReset))
            }
            _ => Ok(result),
        }
    }

    /// The part of a request before it takes effect; says what is to happen after.
    pub(super) async fn before(&self, verb: Verb, key: &Path) -> Result<Option<Injection>> {
        self.alive().await?;
        let (delay, injection) = self.decide(verb, key);
        if !delay.is_zero() {
            let mut life = self.shared.life.subscribe();
            tokio::select! {
                () = tokio::time::sleep(delay) => {}
                _ = life.wait_for(|life| *life != Life::Alive) => {}
            }
        }
        self.alive().await?;
        let Some(fault) = injection else {
            return Ok(None);
        };
        match fault {
            Injection::FailBefore | Injection::OkWithError => {
                self.count(fault);
                Err(failed("injected: overloaded", io::ErrorKind::ConnectionRefused))
            }
            Injection::Hang => {
                self.count(fault);
                pending().await
            }
            Injection::Refuse => {
                self.count(fault);
                Err(Error::PermissionDenied { path: key.to_string(), source: "injected: access denied".into() })
            }
            _ => Ok(injection),
        }
    }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        self.plan.run(Verb::Put, location, self.inner.put_opts(location, payload, opts)).await
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        let inner = self.plan.run(Verb::Multipart, location, self.inner.put_multipart_opts(location, opts)).await?;
        Ok(Box::new(FaultyUpload { inner, plan: self.plan.clone(), location: location.clone() }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let verb = if options.head { Verb::Head } else { Verb::Get };
        let head = options.head;
        let injection = self.plan.before(verb, location).await?;
        let mut result = self.inner.get_opts(location, options).await?;
        self.plan.alive().await?;
        match injection {
            None => {}
            Some(Injection::FailAfter | Injection::OkWithErrorAfter) => {
                self.plan.count(Injection::FailAfter);
                return Err(failed("injected: the answer was lost", io::ErrorKind::ConnectionReset));
            }
            Some(fault) if !head => {
                self.plan.count(fault);
                let length = result.range.end.saturating_sub(result.range.start);
                let range = result.range.clone();
                let (meta, attributes, extensions) =
                    (result.meta.clone(), result.attributes.clone(), result.extensions.clone());
                let payload = GetResultPayload::Stream(spoil(result.into_stream(), length, fault));
                result = GetResult { payload, meta, range, attributes, extensions };
            }
            Some(_) => {}
        }
        Ok(result)
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        // One by one, through the faults of reads.
        let mut parts = Vec::with_capacity(ranges.len());
        for range in ranges {
            let options = GetOptions { range: Some(GetRange::Bounded(range.clone())), ..GetOptions::default() };
            parts.push(self.get_opts(location, options).await?.bytes().await?);
        }
        Ok(parts)
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let (inner, plan) = (Arc::clone(&self.inner), self.plan.clone());
        locations
            .and_then(move |path| {
                let (inner, plan) = (Arc::clone(&inner), plan.clone());
                async move {
                    plan.run(Verb::Delete, &path, inner.delete(&path)).await?;
                    Ok(path)
                }
            })
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        listed(self.plan.clone(), prefix, self.inner.list(prefix))
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        listed(self.plan.clone(), prefix, self.inner.list_with_offset(prefix, offset))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let key = prefix.cloned().unwrap_or_default();
        self.plan.run(Verb::List, &key, self.inner.list_with_delimiter(prefix)).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.plan.run(Verb::Copy, to, self.inner.copy_opts(from, to, options)).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.plan.run(Verb::Copy, to, self.inner.rename_opts(from, to, options)).await
    }
}

/// A listing that may fail before its first entry, or (for a fault "after") behind it.
fn listed(
    plan: FaultPlan,
    prefix: Option<&Path>,
    entries: BoxStream<'static, Result<ObjectMeta>>,
) -> BoxStream<'static, Result<ObjectMeta>> {
    let key = prefix.cloned().unwrap_or_default();
    stream::once(async move {
        let injection = plan.before(Verb::List, &key).await?;
        let guarded = entries.and_then({
            let plan = plan.clone();
            move |meta| {
                let plan = plan.clone();
                async move { plan.alive().await.map(|()| meta) }
            }
        });
        if injection.is_none() {
            return Ok::<_, Error>(guarded.boxed());
        }
        plan.count(Injection::FailAfter);
        let broken = failed("injected: the listing broke off", io::ErrorKind::ConnectionReset);
        Ok(guarded.take(1).chain(stream::once(async { Err(broken) })).boxed())
    })
    .try_flatten()
    .boxed()
}
