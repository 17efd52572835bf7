//! Multipart uploads.

use super::Core;
use super::put::{new_tag, tag_at, tagged};
use super::tries::Tries;
use crate::classify::{Class, classify};
use async_trait::async_trait;
use object_store::path::Path;
use object_store::retry::{RetryContext, RetryFailure, RetryPolicy};
use object_store::{MultipartUpload, PutMultipartOptions, PutPayload, PutResult, Result, UploadPart};
use std::fmt;
use std::sync::Arc;

/// A store may take minutes to put the parts together: as long as an upload of this many bytes.
const SLOW: u64 = 64 << 20;

pub(super) async fn begin(
    core: &Arc<Core>,
    location: &Path,
    opts: PutMultipartOptions,
) -> Result<Box<dyn MultipartUpload>> {
    // A part can't be repeated from here, as a second `put_part` would be another part: the provider repeats it under
    // this policy, signing it anew.
    let opts = opts.with_retry_policy(Arc::new(Parts(Arc::clone(core))));
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

/// Our policy, as the provider asks it about parts.
#[derive(Debug)]
struct Parts(Arc<Core>);

#[async_trait]
impl RetryPolicy for Parts {
    async fn retry(&self, context: RetryContext) -> bool {
        let core = &self.0;
        let limit = match context.failure {
            RetryFailure::Status(status) => match status.as_u16() {
                401 | 403 => Some(core.policy.mend),
                // 200 stands for an error in the body of a successful answer.
                200 | 408 | 425 | 429 | 500..=599 => core.policy.patience,
                _ => return false,
            },
            _ => core.policy.patience,
        };
        let attempt = u32::try_from(context.attempt).unwrap_or(u32::MAX);
        let pause = core.pause(attempt);
        core.health.failed(format!("put part: {:?}", context.failure));
        if limit.is_some_and(|limit| context.elapsed + pause > limit) {
            return false;
        }
        let _waiting = core.health.wait();
        tokio::time::sleep(pause).await;
        true
    }
}
