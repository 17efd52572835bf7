//! Multipart uploads that fail.

use super::FaultPlan;
use crate::Verb;
use async_trait::async_trait;
use object_store::path::Path;
use object_store::{MultipartUpload, PutPayload, PutResult, Result, UploadPart};

#[derive(Debug)]
pub(super) struct FaultyUpload {
    pub(super) inner: Box<dyn MultipartUpload>,
    pub(super) plan: FaultPlan,
    pub(super) location: Path,
}

#[async_trait]
impl MultipartUpload for FaultyUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let part = self.inner.put_part(data);
        let (plan, location) = (self.plan.clone(), self.location.clone());
        Box::pin(async move { plan.run(Verb::Part, &location, part).await })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.plan.run(Verb::Multipart, &self.location, self.inner.complete()).await
    }

    async fn abort(&mut self) -> Result<()> {
        self.plan.run(Verb::Multipart, &self.location, self.inner.abort()).await
    }
}
