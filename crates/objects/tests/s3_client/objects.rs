//! One object: written, read, asked for.

use crate::server::Server;
use bytes::Bytes;
use futures::TryStreamExt;
use object_store::{GetRange, PutPayload};
use std::time::{Duration, SystemTime};
use stoa_objects::Error;
use stoa_objects::s3::{Condition, Headers, Object, Read, S3Bucket, Storage, Written};

pub(crate) async fn put(bucket: &S3Bucket, key: &str, body: &[u8]) -> Written {
    let written = bucket.put(key, body.to_vec().into(), &Headers::default(), &Condition::None).await;
    written.unwrap_or_else(|error| panic!("{key:?}: {error}"))
}

pub(crate) async fn body(object: Object) -> Vec<u8> {
    object.body.try_collect::<Vec<Bytes>>().await.unwrap().concat()
}

pub(crate) async fn get(bucket: &S3Bucket, key: &str) -> Vec<u8> {
    let object = bucket.get(key, &Read::default()).await;
    body(object.unwrap_or_else(|error| panic!("{key:?}: {error}"))).await
}

pub(crate) async fn objects_come_back(bucket: &S3Bucket) {
    let long: Vec<u8> = (0..3_000_001_u32).map(|n| (n % 251) as u8).collect();
    let chunks: PutPayload = long.chunks(700_000).map(Bytes::copy_from_slice).collect();
    for (key, payload, want) in [
        ("objects/long", chunks, long),
        ("objects/short", "abc".into(), b"abc".to_vec()),
        ("objects/empty", PutPayload::new(), vec![]),
    ] {
        let written = bucket.put(key, payload, &Headers::default(), &Condition::None).await.unwrap();
        let info = bucket.head(key, None).await.unwrap();
        assert_eq!((info.size, info.etag.as_deref()), (want.len() as u64, Some(written.etag.as_str())), "{key}");
        assert!(written.etag.starts_with('"') && written.etag.ends_with('"'), "{}", written.etag);
        let apart = SystemTime::now().duration_since(info.modified.unwrap()).unwrap_or_default();
        assert!(apart < Duration::from_secs(60));
        let object = bucket.get(key, &Read::default()).await.unwrap();
        assert_eq!((&object.info, object.range.clone()), (&info, 0..info.size));
        assert!(body(object).await == want, "{key}");
    }
    bucket.delete("objects/short", None, None).await.unwrap();
    bucket.delete("objects/short", None, None).await.unwrap();
    assert!(bucket.head("objects/short", None).await.unwrap_err().is_not_found());
    assert!(bucket.get("objects/short", &Read::default()).await.unwrap_err().is_not_found());
}

pub(crate) async fn ranges(bucket: &S3Bucket) {
    let written = put(bucket, "ranges", b"0123456789").await;
    let read = |range| Read { range: Some(range), ..Read::default() };
    for (range, want) in [
        (GetRange::Bounded(2..5), "234"),
        (GetRange::Bounded(8..50), "89"),
        (GetRange::Bounded(0..10), "0123456789"),
        (GetRange::Offset(7), "789"),
        (GetRange::Offset(0), "0123456789"),
        (GetRange::Suffix(3), "789"),
        (GetRange::Suffix(30), "0123456789"),
    ] {
        let object = bucket.get("ranges", &read(range.clone())).await.unwrap();
        assert_eq!(object.info.size, 10, "{range:?}");
        assert_eq!(object.range.end - object.range.start, want.len() as u64, "{range:?}");
        assert_eq!(body(object).await, want.as_bytes(), "{range:?}");
    }
    for range in [GetRange::Bounded(10..11), GetRange::Bounded(5..5), GetRange::Offset(10)] {
        let error = bucket.get("ranges", &read(range.clone())).await.unwrap_err();
        assert!(matches!(error, Error::InvalidRange { .. }), "{range:?}: {error}");
    }
    let same = Read { if_match: Some(written.etag), ..Read::default() };
    assert_eq!(body(bucket.get("ranges", &same).await.unwrap()).await, b"0123456789");
    put(bucket, "ranges", b"other").await;
    let error = bucket.get("ranges", &same).await.unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error}");
}

pub(crate) async fn headers_come_back(server: &Server) {
    let text = |text: &str| Some(text.to_owned());
    let class = if server.can.classes { text("STANDARD_IA") } else { None };
    let headers = Headers {
        content_type: text("text/x-stoa; charset=utf-8"),
        content_encoding: text("identity"),
        content_disposition: text("attachment; filename=\"a b\""),
        content_language: text("en"),
        cache_control: text("no-cache"),
        expires: text("Fri, 24 May 2030 00:00:00 GMT"),
        metadata: [("mtime", "1700000000.123456789"), ("mode", "33188"), ("with-dash", "a=b; c, d")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        storage: Storage { class: class.clone(), encryption: None },
    };
    let bucket = &server.bucket;
    for condition in [Condition::IfAbsent, Condition::None] {
        bucket.put("headers", "x".into(), &headers, &condition).await.unwrap();
        let found = bucket.head("headers", None).await.unwrap().headers;
        // Some servers say the standard class, and AWS doesn't.
        let storage =
            Storage { class: found.storage.class.clone().filter(|class| class != "STANDARD"), encryption: None };
        assert_eq!(Headers { storage, ..found }, headers);
        assert_eq!(bucket.get("headers", &Read::default()).await.unwrap().info.headers.metadata, headers.metadata);
    }
    let upload = bucket.create_upload("headers", &headers).await.unwrap();
    let part = bucket.upload_part(&upload, 1, "y".into()).await.unwrap();
    bucket.complete_upload(&upload, &[part], &Condition::None).await.unwrap();
    let found = bucket.head("headers", None).await.unwrap().headers;
    assert_eq!((found.content_type, found.metadata), (headers.content_type, headers.metadata));
}

pub(crate) async fn tags(bucket: &S3Bucket) {
    put(bucket, "tagged", b"x").await;
    assert!(bucket.get_tags("tagged").await.unwrap().is_empty());
    let tags: std::collections::BTreeMap<_, _> =
        [("a", "1"), ("project:x", "a b+c/d"), ("empty", "")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    bucket.put_tags("tagged", &tags).await.unwrap();
    assert_eq!(bucket.get_tags("tagged").await.unwrap(), tags);
    bucket.put_tags("tagged", &std::collections::BTreeMap::new()).await.unwrap();
    assert!(bucket.get_tags("tagged").await.unwrap().is_empty());
    assert!(bucket.get_tags("not-there").await.unwrap_err().is_not_found());
}

pub(crate) async fn missing_things_are_told_apart(server: &Server) {
    let short = |options: &mut stoa_objects::ConnectOptions| {
        options.retry = options.retry.with_patience(Duration::from_millis(200));
    };
    let nowhere = server.other("nowhere", short);
    for error in [
        nowhere.head("k", None).await.unwrap_err(),
        nowhere.get("k", &Read::default()).await.unwrap_err(),
        nowhere.list(&stoa_objects::s3::List::default()).await.unwrap_err(),
        nowhere.put("k", "x".into(), &Headers::default(), &Condition::None).await.unwrap_err(),
        nowhere.delete("k", None, None).await.unwrap_err(),
    ] {
        assert!(matches!(error, Error::MissingBucket { .. }), "{error}");
    }
    let wrong = server.other_as("bucket", "wr0ng-secret", short);
    for error in [
        wrong.get("k", &Read::default()).await.unwrap_err(),
        wrong.list(&stoa_objects::s3::List::default()).await.unwrap_err(),
    ] {
        assert!(matches!(error, Error::WrongCredentials { .. }), "{error}");
        assert!(!format!("{error} {error:?}").contains("wr0ng"));
    }
}
