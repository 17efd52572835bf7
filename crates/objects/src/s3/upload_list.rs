//! Uploads under way, page by page.

use super::S3Bucket;
use super::attempts::Answer;
use super::call::Call;
use super::failure::Failure;
use super::list::{Keys, advanced, date};
use super::upload::Upload;
use crate::{Result, Verb};
use hyper::Method;

/// One page of uploads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UploadPage {
    /// Uploads, in the order of their keys.
    pub uploads: Vec<Upload>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<UploadMark>,
}

/// A place in a listing of uploads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadMark {
    /// The last key of the page before.
    pub key: String,
    /// Its last upload there.
    pub id: String,
}

impl S3Bucket {
    /// Lists one page of the uploads under way, of keys that begin with `prefix`.
    ///
    /// # Errors
    /// As [`S3Bucket::list`].
    pub async fn list_uploads(&self, prefix: &str, after: Option<&UploadMark>) -> Result<UploadPage> {
        let call = Call::bucket(Verb::List, "list uploads", Method::GET)
            .query("uploads", "")
            .query("encoding-type", "url")
            .query("prefix", prefix)
            .query_if("key-marker", after.map(|mark| mark.key.as_str()))
            .query_if("upload-id-marker", after.map(|mark| mark.id.as_str()));
        self.inner
            .run(&call, |answer| page(answer).and_then(|page| advanced(after, page.next.as_ref()).map(|()| page)))
            .await
    }
}

fn page(answer: &Answer) -> std::result::Result<UploadPage, Failure> {
    let root = answer.xml("ListMultipartUploadsResult")?;
    let keys = Keys::of(&root);
    let mut uploads = Vec::new();
    for upload in root.all("Upload") {
        let key = keys.need(upload, "Key")?;
        let id = upload.need("UploadId")?.to_owned();
        uploads.push(Upload {
            key,
            id,
            tag: None,
            customer: false,
            summed: false,
            begun: upload.text_of("Initiated").and_then(date),
        });
    }
    let next = match root.parsed("IsTruncated")? {
        true => Some(UploadMark {
            key: keys.need(&root, "NextKeyMarker")?,
            id: root.need("NextUploadIdMarker")?.to_owned(),
        }),
        false => None,
    };
    Ok(UploadPage { uploads, next })
}
