//! Whether a bucket keeps versions.

use super::S3Bucket;
use super::call::Call;
use crate::{Result, Verb};
use hyper::Method;

impl S3Bucket {
    /// Whether the bucket keeps versions, or has kept some (`Suspended`).
    ///
    /// # Errors
    /// [`crate::Error::Denied`] without the right to ask (`s3:GetBucketVersioning`).
    pub async fn keeps_versions(&self) -> Result<bool> {
        let call = Call::bucket(Verb::List, "get versioning of", Method::GET).query("versioning", "");
        self.inner
            .run(&call, |answer| {
                let root = answer.xml("VersioningConfiguration")?;
                Ok(root.text_of("Status").is_some_and(|status| matches!(status, "Enabled" | "Suspended")))
            })
            .await
    }
}
