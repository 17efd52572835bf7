//! Multipart uploads.

use crate::objects::{get, put};
use stoa_objects::Error;
use stoa_objects::s3::{Condition, Headers, Part, S3Bucket, Source, Upload};

/// The least length of every part but the last.
const PART: usize = 5 << 20;

pub(crate) async fn parts_are_sent_and_copied(bucket: &S3Bucket) {
    let old: Vec<u8> = (0..(PART as u32 + 1000)).map(|n| (n % 249) as u8).collect();
    let written = put(bucket, "uploads/old", &old).await;
    let upload = bucket.create_upload("uploads/new ü", &Headers::default()).await.unwrap();
    let source = Source { key: "uploads/old".to_owned(), if_match: Some(written.etag), ..Source::default() };
    let head = bucket.upload_part_copy(&upload, 1, &source, Some(0..PART as u64)).await.unwrap();
    let sent = bucket.upload_part(&upload, 2, vec![7; PART].into()).await.unwrap();
    // Sent again, with other content: the last one counts.
    let replaced = bucket.upload_part(&upload, 2, vec![8; PART].into()).await.unwrap();
    assert_ne!(sent.etag, replaced.etag);
    let tail = bucket.upload_part_copy(&upload, 9, &source, Some(PART as u64..PART as u64 + 1000)).await.unwrap();
    let done = bucket.complete_upload(&upload, &[head, replaced, tail], &Condition::None).await.unwrap();
    let want = [&old[..PART], &[8; PART], &old[PART..]].concat();
    assert!(get(bucket, "uploads/new ü").await == want);
    let info = bucket.head("uploads/new ü", None).await.unwrap();
    assert_eq!((info.size, info.etag), (want.len() as u64, Some(done.etag)));
    assert!(info.headers.metadata.is_empty(), "our own tag is not shown: {:?}", info.headers.metadata);

    let upload = bucket.create_upload("uploads/x", &Headers::default()).await.unwrap();
    let other = Source { if_match: Some("\"other\"".to_owned()), ..source.clone() };
    let error = bucket.upload_part_copy(&upload, 1, &other, None).await.unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error}");
    let error = bucket.upload_part_copy(&upload, 1, &source, Some(0..1 << 40)).await.unwrap_err();
    assert!(matches!(error, Error::InvalidRange { .. } | Error::Rejected { .. }), "{error}");
    let missing = Source { key: "uploads/missing".to_owned(), ..Source::default() };
    let error = bucket.upload_part_copy(&upload, 1, &missing, None).await.unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
    let invented = Part { number: 1, etag: "\"d41d8cd98f00b204e9800998ecf8427e\"".to_owned(), checksum: None };
    let error = bucket.complete_upload(&upload, &[invented], &Condition::None).await.unwrap_err();
    assert!(matches!(error, Error::Rejected { .. }), "{error}");
    bucket.abort_upload(&upload).await.unwrap();
}

pub(crate) async fn uploads_are_listed_and_aborted(bucket: &S3Bucket) {
    let mut begun: Vec<Upload> = Vec::new();
    for key in ["open/a", "open/b c+", "open/b c+"] {
        begun.push(bucket.create_upload(key, &Headers::default()).await.unwrap());
    }
    let page = bucket.list_uploads("open/", None).await.unwrap();
    let mut found: Vec<_> = page.uploads.iter().map(|upload| (upload.key.clone(), upload.id.clone())).collect();
    let mut want: Vec<_> = begun.iter().map(|upload| (upload.key.clone(), upload.id.clone())).collect();
    found.sort();
    want.sort();
    assert_eq!(found, want);
    assert!(page.next.is_none() && page.uploads.iter().all(|upload| upload.begun.is_some()));
    for upload in page.uploads.iter().chain(&begun) {
        bucket.abort_upload(upload).await.unwrap();
    }
    assert!(bucket.list_uploads("open/", None).await.unwrap().uploads.is_empty());
    let error = bucket.upload_part(&begun[0], 1, "x".into()).await.unwrap_err();
    assert!(matches!(error, Error::NoSuchUpload { .. }), "{error}");
    let part = Part { number: 1, etag: "\"x\"".to_owned(), checksum: None };
    let error = bucket.complete_upload(&begun[0], &[part], &Condition::None).await.unwrap_err();
    // versitygw looks for the part first, and says that it is missing.
    assert!(matches!(error, Error::NoSuchUpload { .. } | Error::Rejected { .. }), "{error}");
}
