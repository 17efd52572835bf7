//! Copies inside the store.

use crate::objects::{get, put};
use crate::server::Server;
use stoa_objects::Error;
use stoa_objects::s3::{Condition, CopyHeaders, Headers, S3Bucket, Source, Storage};

fn headers(content_type: &str, name: &str) -> Headers {
    Headers {
        content_type: Some(content_type.to_owned()),
        metadata: [(name.to_owned(), "1".to_owned())].into(),
        ..Headers::default()
    }
}

pub(crate) async fn headers_are_kept_or_replaced(server: &Server) {
    let bucket = &server.bucket;
    let key = "copies/from ü+%";
    bucket.put(key, "content".into(), &headers("text/a", "old"), &Condition::None).await.unwrap();
    let tags = [("t".to_owned(), "1".to_owned())].into();
    bucket.put_tags(key, &tags).await.unwrap();
    let source = Source { key: key.to_owned(), ..Source::default() };
    for condition in [Condition::None, Condition::IfAbsent] {
        let keep = CopyHeaders::Keep(Storage::default());
        let written = bucket.copy(&source, "copies/kept", &keep, &condition).await.unwrap();
        let info = bucket.head("copies/kept", None).await.unwrap();
        assert_eq!(info.etag, Some(written.etag));
        assert_eq!(info.headers.content_type.as_deref(), Some("text/a"));
        assert_eq!(info.headers.metadata, headers("", "old").metadata);
        assert_eq!(bucket.get_tags("copies/kept").await.unwrap(), tags);
        assert_eq!(get(bucket, "copies/kept").await, b"content");
        bucket.delete("copies/kept", None, None).await.unwrap();
    }
    let replace = CopyHeaders::Replace(headers("text/b", "new"));
    bucket.copy(&source, "copies/replaced", &replace, &Condition::None).await.unwrap();
    let info = bucket.head("copies/replaced", None).await.unwrap();
    assert_eq!(info.headers.content_type.as_deref(), Some("text/b"));
    assert_eq!(info.headers.metadata, headers("", "new").metadata);
    // Onto itself, which is how metadata are changed.
    bucket.copy(&source, key, &replace, &Condition::None).await.unwrap();
    assert_eq!(bucket.head(key, None).await.unwrap().headers.metadata, headers("", "new").metadata);
    assert_eq!(get(bucket, key).await, b"content");
}

pub(crate) async fn sources_have_conditions(bucket: &S3Bucket) {
    let written = put(bucket, "copies/source", b"content").await;
    let keep = CopyHeaders::Keep(Storage::default());
    let source = |if_match: &str| Source {
        key: "copies/source".to_owned(),
        if_match: Some(if_match.to_owned()),
        ..Source::default()
    };
    bucket.copy(&source(&written.etag), "copies/target", &keep, &Condition::None).await.unwrap();
    let error = bucket.copy(&source("\"other\""), "copies/target", &keep, &Condition::None).await.unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error}");
    let missing = Source { key: "copies/missing".to_owned(), ..Source::default() };
    let error = bucket.copy(&missing, "copies/target", &keep, &Condition::None).await.unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
}
