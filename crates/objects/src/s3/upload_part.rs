//! The parts of an upload.

use super::S3Bucket;
use super::attempts::Answer;
use super::call::Call;
use super::copy::Source;
use super::put::Written;
use super::upload::{Part, Upload};
use crate::retry::SLOW;
use crate::{Error, Result, Verb};
use hyper::Method;
use object_store::PutPayload;
use std::ops::Range;

impl S3Bucket {
    /// Uploads a part. One with the same number is replaced, so it is repeated freely.
    ///
    /// # Errors
    /// [`Error::NoSuchUpload`].
    pub async fn upload_part(&self, upload: &Upload, number: u32, body: PutPayload) -> Result<Part> {
        let mut call = part(upload, "upload part of", number)?;
        // What arrives is checked by one or the other.
        let signed = self.inner.signed || (self.inner.checksum && !upload.summed);
        call.data(body, upload.summed, signed).await?;
        let read = |answer: &Answer| {
            answer.no_error()?;
            let checksum = answer.header("x-amz-checksum-crc64nvme");
            Ok(Part { number, etag: Written::read(answer, None)?.etag, checksum })
        };
        self.inner.run(&call, read).await
    }

    /// Makes a part of bytes that are in the store, up to 5 GiB of them: of a range of an object, or of all of it.
    ///
    /// # Errors
    /// [`Error::NoSuchUpload`]; [`Error::NotFound`] when there is no source; [`Error::Conflict`] when it does not have the
    /// tag; [`Error::InvalidRange`].
    pub async fn upload_part_copy(
        &self,
        upload: &Upload,
        number: u32,
        source: &Source,
        range: Option<Range<u64>>,
    ) -> Result<Part> {
        let mut call = part(upload, "copy part of", number)?;
        call.slow = SLOW;
        source.write(self.name(), &mut call)?;
        if let Some(range) = range {
            if range.is_empty() {
                return Err(Error::InvalidRange { op: call.op(), detail: "it is empty".to_owned() });
            }
            let text = format!("bytes={}-{}", range.start, range.end - 1);
            call.header_if("x-amz-copy-source-range", Some(&text))?;
        }
        let read = |answer: &Answer| {
            let root = answer.xml("CopyPartResult")?;
            let checksum = root.text_of("ChecksumCRC64NVME").map(str::to_owned);
            Ok(Part { number, etag: Written::read(answer, Some(root.need("ETag")?))?.etag, checksum })
        };
        self.inner.run(&call, read).await
    }
}

fn part<'a>(upload: &'a Upload, name: &'static str, number: u32) -> Result<Call<'a>> {
    let call = Call::object(Verb::Part, name, Method::PUT, &upload.key)?;
    let call = Call { keyed: upload.keyed(), ..call };
    Ok(call.query("partNumber", number.to_string()).query("uploadId", upload.id.as_str()))
}
