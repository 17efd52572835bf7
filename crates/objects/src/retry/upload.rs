//! Multipart uploads.

use super::Core;
use super::put::{new_tag, tag_at, tagged};
use super::tries::Tries;
use crate::classify::{Class, classify};
use async_trait::async_trait;
use object_store::path::Path;
use object_store::{MultipartUpload, PutMultipartOptions, PutPayload, PutResult, Result, UploadPart};
use std::fmt;
use std::sync::Arc;

/// A store may take minutes to put the parts together: as long as an upload of this many bytes.
pub(crate) const SLOW: u64 = 64 << 20;

pub(super) async fn begin(
    core: &Arc<Core>,
    location: &Path,
    opts: PutMultipartOptions,
) -> Result<Box<dyn MultipartUpload>> {
    // A part can't be repeated from here, as a second `put_part` would be another part: the provider does it.
    let mut opts = opts;
    opts.extensions.insert(PartRetry(Arc::clone(core)));
    let mut tag = core.keeps_tags().then(new_tag);
    let mut refused_with_tag = false;
    let mut tries = Tries::new(core, "begin upload of", Some(location));
    loop {
        let attributes = tagged(&opts.attributes, tag.as_deref());
        let attempt = PutMultipartOptions { attributes, ..opts.clone() };
        let error = match core.attempt(0, core.inner.put_multipart_opts(location, attempt)).await {
            Ok(inner) => {
                core.learn_tags(refused_with_tag);
                return Ok(Box::new(Upload {
                    core: Arc::clone(core),
                    inner: tries.done(inner),
                    location: location.clone(),
                    tag,
                }));
            }
            Err(error) => error,
        };
        if tag.is_some() && classify(&error) == Class::Unsupported {
            tag = None;
            refused_with_tag = true;
            continue;
        }
        // An upload begun twice is one that nobody completes; buckets are told to drop those.
        tries.again(error).await?;
    }
}

struct Upload {
    core: Arc<Core>,
    inner: Box<dyn MultipartUpload>,
    location: Path,
    tag: Option<String>,
}

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upload").field("location", &self.location).finish_non_exhaustive()
    }
}

#[async_trait]
impl MultipartUpload for Upload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        self.inner.put_part(data)
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let core = Arc::clone(&self.core);
        let mut tries = Tries::new(&core, "complete upload of", Some(&self.location));
        loop {
            let error = match core.attempt(SLOW, self.inner.complete()).await {
                Ok(result) => return Ok(tries.done(result)),
                Err(error) => error,
            };
            // "No such upload" after a lost answer: it may be gone because it was completed.
            let class = classify(&error);
            if tries.effect_unknown() && !class.passes() && !class.may_be_mended() {
                match (tag_at(&core, &self.location).await?, &self.tag) {
                    (Some((found, meta)), Some(tag)) if found == *tag => {
                        let result =
                            PutResult { e_tag: meta.e_tag, version: meta.version, extensions: Default::default() };
                        return Ok(tries.done(result));
                    }
                    _ => return Err(error),
                }
            }
            tries.again(error).await?;
        }
    }

    async fn abort(&mut self) -> Result<()> {
        let core = Arc::clone(&self.core);
        core.attempt(0, self.inner.abort()).await
    }
}

/// Our policy, handed down to the provider with the options of an upload.
#[derive(Debug, Clone)]
pub(crate) struct PartRetry(Arc<Core>);

impl PartRetry {
    /// Uploads a part of `bytes` bytes with `put`, repeating it under the policy.
    pub(crate) async fn run<T, F>(&self, location: &Path, bytes: u64, put: impl Fn() -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let mut tries = Tries::new(&self.0, "upload part of", Some(location));
        loop {
            match self.0.attempt(bytes, put()).await {
                Ok(part) => return Ok(tries.done(part)),
                Err(error) => tries.again(error).await?,
            }
        }
    }
}
