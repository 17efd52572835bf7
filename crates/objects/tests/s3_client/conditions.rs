//! Conditions: of several who would write, one does.

use crate::objects::{get, put};
use crate::server::Server;
use stoa_objects::Error;
use stoa_objects::s3::{Condition, CopyHeaders, Headers, S3Bucket, Source, Storage};

fn conflict<T: std::fmt::Debug>(result: Result<T, Error>) {
    let error = result.unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error}");
}

pub(crate) async fn puts(bucket: &S3Bucket) {
    let put = async |body: &'static str, condition: Condition| {
        bucket.put("conditions/put", body.into(), &Headers::default(), &condition).await
    };
    let missing = put("x", Condition::IfMatch("\"nothing\"".to_owned())).await.unwrap_err();
    assert!(matches!(missing, Error::NotFound { .. } | Error::Conflict { .. }), "{missing}");
    let first = put("first", Condition::IfAbsent).await.unwrap();
    conflict(put("again", Condition::IfAbsent).await);
    let second = put("second", Condition::IfMatch(first.etag.clone())).await.unwrap();
    conflict(put("late", Condition::IfMatch(first.etag)).await);
    assert_eq!(bucket.head("conditions/put", None).await.unwrap().etag, Some(second.etag));
    assert_eq!(get(bucket, "conditions/put").await, b"second");
    let headers = Headers::default();
    let racers = (0..8).map(|_| bucket.put("conditions/race", "x".into(), &headers, &Condition::IfAbsent));
    let won = futures::future::join_all(racers).await.into_iter().filter(Result::is_ok).count();
    assert_eq!(won, 1);
}

pub(crate) async fn deletes(server: &Server) {
    let bucket = &server.bucket;
    let written = put(bucket, "conditions/delete", b"x").await;
    let wrong = bucket.delete("conditions/delete", Some("\"other\""), None).await;
    if server.can.delete_if {
        conflict(wrong);
        bucket.delete("conditions/delete", Some(&written.etag), None).await.unwrap();
    }
    bucket.delete("conditions/delete", None, None).await.unwrap();
    assert!(bucket.head("conditions/delete", None).await.unwrap_err().is_not_found());
}

pub(crate) async fn copies(server: &Server) {
    let bucket = &server.bucket;
    put(bucket, "conditions/source", b"content").await;
    let there = put(bucket, "conditions/target", b"there").await;
    let source = Source { key: "conditions/source".to_owned(), ..Source::default() };
    for headers in [CopyHeaders::Keep(Storage::default()), CopyHeaders::Replace(Headers::default())] {
        let copy =
            async |key: &'static str, condition: Condition| bucket.copy(&source, key, &headers, &condition).await;
        if server.can.copy_if {
            conflict(copy("conditions/target", Condition::IfAbsent).await);
            conflict(copy("conditions/target", Condition::IfMatch("\"other\"".to_owned())).await);
            assert_eq!(get(bucket, "conditions/target").await, b"there");
            let etag = bucket.head("conditions/target", None).await.unwrap().etag.unwrap();
            assert_eq!(etag, there.etag);
            copy("conditions/target", Condition::IfMatch(etag)).await.unwrap();
            put(bucket, "conditions/target", b"there").await;
        }
        copy("conditions/new", Condition::IfAbsent).await.unwrap();
        assert_eq!(get(bucket, "conditions/new").await, b"content");
        bucket.delete("conditions/new", None, None).await.unwrap();
    }
}

pub(crate) async fn completions(server: &Server) {
    let bucket = &server.bucket;
    let key = "conditions/complete";
    let upload = async |condition: Condition| {
        let upload = bucket.create_upload(key, &Headers::default()).await.unwrap();
        let part = bucket.upload_part(&upload, 1, "uploaded".into()).await.unwrap();
        let done = bucket.complete_upload(&upload, &[part], &condition).await;
        bucket.abort_upload(&upload).await.unwrap();
        done
    };
    let first = upload(Condition::IfAbsent).await.unwrap();
    if server.can.complete_if {
        conflict(upload(Condition::IfAbsent).await);
        conflict(upload(Condition::IfMatch("\"other\"".to_owned())).await);
        upload(Condition::IfMatch(first.etag)).await.unwrap();
    }
    assert_eq!(get(bucket, key).await, b"uploaded");
}
