//! What a request looks like.

use super::canned::{Canned, answer};
use super::{SECRET, client, client_with, options};
use crate::ConnectOptions;
use crate::s3::{Condition, CopyHeaders, Encryption, Headers, List, Read, Source, Storage};
use object_store::GetRange;

const TAGGED: &[(&str, &str)] = &[("ETag", "\"e\"")];

#[tokio::test]
async fn keys_reach_the_server_as_they_are() {
    let keys = [
        ("a//b", "/bucket/a//b"),
        ("a/./b", "/bucket/a/./b"),
        ("a/../b", "/bucket/a/../b"),
        ("..", "/bucket/.."),
        (".", "/bucket/."),
        ("/", "/bucket//"),
        ("//a/", "/bucket///a/"),
        ("a b+%?#\u{1}ü", "/bucket/a%20b%2B%25%3F%23%01%C3%BC"),
    ];
    let server = Canned::start(keys.map(|_| answer(200, TAGGED, ""))).await;
    let bucket = client(&server);
    for (key, path) in keys {
        bucket.put(key, "x".into(), &Headers::default(), &Condition::None).await.unwrap();
        let asked = server.asked().pop().unwrap();
        assert!(asked.starts_with(&format!("PUT {path} HTTP/1.1\r\n")), "{key}: {asked}");
    }
}

#[tokio::test]
async fn an_empty_key_is_refused_before_it_names_the_bucket() {
    let server = Canned::start([]).await;
    let bucket = client(&server);
    assert!(bucket.delete("", None, None).await.is_err());
    assert!(bucket.delete_many(&[String::new()]).await.unwrap()[0].is_err());
    assert!(bucket.get("", &Read::default()).await.is_err());
    let copied = bucket.copy(&Source::default(), "k", &CopyHeaders::Keep(Storage::default()), &Condition::None).await;
    assert!(copied.is_err());
    assert_eq!(server.asked(), [""; 0]);
}

#[tokio::test]
async fn headers_conditions_and_checksums_are_sent_and_signed() {
    let server = Canned::start([answer(200, &[("ETag", "\"e-1\""), ("x-amz-version-id", "v")], "")]).await;
    let options = ConnectOptions { requester_pays: true, ..options(&server) };
    let encryption = Some(Encryption::Server { algorithm: "aws:kms".to_owned(), key: Some("the-key".to_owned()) });
    let headers = Headers {
        content_type: Some("text/plain".to_owned()),
        metadata: [("mtime".to_owned(), "1.5".to_owned())].into(),
        storage: Storage { class: Some("STANDARD_IA".to_owned()), encryption },
        ..Headers::default()
    };
    let condition = Condition::IfMatch("\"old\"".to_owned());
    let written = client_with(&server, &options).put("k", "123456789".into(), &headers, &condition).await.unwrap();
    assert_eq!((written.etag.as_str(), written.version.as_deref()), ("\"e-1\"", Some("v")));
    let asked = server.asked().pop().unwrap();
    for line in [
        "content-type: text/plain",
        "x-amz-meta-mtime: 1.5",
        "x-amz-storage-class: STANDARD_IA",
        "x-amz-server-side-encryption: aws:kms",
        "x-amz-server-side-encryption-aws-kms-key-id: the-key",
        "if-match: \"old\"",
        "x-amz-checksum-crc64nvme: rosUhgp5mIg=",
        "x-amz-content-sha256: UNSIGNED-PAYLOAD",
        "x-amz-security-token: t0ken",
        "x-amz-request-payer: requester",
        "content-length: 9",
    ] {
        assert!(asked.contains(&format!("\r\n{line}\r\n")), "{line} is not in {asked}");
    }
    let signed = asked.lines().find(|line| line.starts_with("authorization: AWS4-HMAC-SHA256 ")).unwrap();
    for name in ["host", "if-match", "x-amz-checksum-crc64nvme", "x-amz-meta-mtime", "x-amz-request-payer"] {
        assert!(signed.contains(name), "{name} is not in {signed}");
    }
    assert!(!asked.contains(SECRET));
}

#[tokio::test]
async fn a_payload_is_signed_where_the_network_may_damage_it() {
    let server = Canned::start([answer(200, TAGGED, "")]).await;
    let mut bucket = client(&server);
    // As for an endpoint with http:// that is not this machine.
    std::sync::Arc::get_mut(&mut bucket.inner).unwrap().signed = true;
    bucket.put("k", "Welcome to Amazon S3.".into(), &Headers::default(), &Condition::None).await.unwrap();
    let hash = "x-amz-content-sha256: 44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
    assert!(server.asked()[0].contains(hash));
}

#[tokio::test]
async fn an_upload_of_copies_asks_for_no_checksum() {
    const BEGUN: &str = "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>";
    for copies in [false, true] {
        let server = Canned::start([answer(200, &[], BEGUN), answer(200, TAGGED, "")]).await;
        let (bucket, headers) = (client(&server), Headers::default());
        let upload = match copies {
            false => bucket.create_upload("k", &headers).await.unwrap(),
            true => bucket.create_upload_of_copies("k", &headers).await.unwrap(),
        };
        bucket.upload_part(&upload, 1, "Welcome to Amazon S3.".into()).await.unwrap();
        let asked = server.asked();
        assert!(asked.iter().all(|one| one.contains("x-amz-checksum-") != copies), "{asked:?}");
        let hash = "x-amz-content-sha256: 44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
        assert_eq!(asked[1].contains(hash), copies, "then the part is signed");
    }
}

#[tokio::test]
async fn anonymous_requests_are_not_signed() {
    let server = Canned::start([answer(200, TAGGED, "abc")]).await;
    let options = ConnectOptions { anonymous: true, ..options(&server) };
    let object = client_with(&server, &options).get("k", &Read::default()).await.unwrap();
    assert_eq!(object.range, 0..3);
    let asked = server.asked().pop().unwrap();
    assert!(!asked.contains("authorization") && !asked.contains("x-amz-"), "{asked}");
}

#[tokio::test]
async fn queries_and_ranges() {
    let listed = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";
    let part = ("Content-Range", "bytes 2-3/9");
    let server = Canned::start([answer(200, &[], listed), answer(206, &[part], "cd")]).await;
    let bucket = client(&server);
    let list =
        List { prefix: "a b/".to_owned(), delimiter: Some("/".to_owned()), keys_max: Some(7), ..List::default() };
    bucket.list(&list).await.unwrap();
    let read = Read { range: Some(GetRange::Bounded(2..4)), version: Some("v/1".to_owned()), ..Read::default() };
    assert_eq!(bucket.get("k", &read).await.unwrap().info.size, 9);
    let asked = server.asked();
    let listing = "GET /bucket?list-type=2&encoding-type=url&prefix=a%20b%2F&delimiter=%2F&max-keys=7 HTTP/1.1";
    assert!(asked[0].starts_with(listing), "{}", asked[0]);
    assert!(asked[1].starts_with("GET /bucket/k?versionId=v%2F1 HTTP/1.1"), "{}", asked[1]);
    assert!(asked[1].contains("\r\nrange: bytes=2-3\r\n"), "{}", asked[1]);
}

#[tokio::test]
async fn the_source_of_a_copy_is_encoded() {
    let done = "<CopyObjectResult><ETag>\"e\"</ETag></CopyObjectResult>";
    let server = Canned::start([answer(200, &[], done)]).await;
    let source =
        Source { key: "a b//ü/.".to_owned(), version: Some("v".to_owned()), if_match: Some("\"s\"".to_owned()) };
    let keep = CopyHeaders::Keep(Storage { class: Some("GLACIER_IR".to_owned()), encryption: None });
    let written = client(&server).copy(&source, "k", &keep, &Condition::None).await.unwrap();
    assert_eq!(written.etag, "\"e\"");
    let asked = server.asked().pop().unwrap();
    for line in [
        "x-amz-copy-source: /bucket/a%20b//%C3%BC/.?versionId=v",
        "x-amz-copy-source-if-match: \"s\"",
        "x-amz-metadata-directive: COPY",
        "x-amz-storage-class: GLACIER_IR",
    ] {
        assert!(asked.contains(&format!("\r\n{line}\r\n")), "{line} is not in {asked}");
    }
}

#[tokio::test]
async fn headers_that_would_arrive_changed_are_refused() {
    let server = Canned::start([]).await;
    let bucket = client(&server);
    for (name, value) in [("a", "ü"), ("a", " x"), ("a", "x "), ("a", "x\ny"), ("A", "x"), ("a b", "x")] {
        let headers = Headers { metadata: [(name.to_owned(), value.to_owned())].into(), ..Headers::default() };
        let error = bucket.put("k", "x".into(), &headers, &Condition::None).await.unwrap_err();
        assert!(matches!(error, crate::Error::Rejected { .. }), "{name}: {value}: {error}");
    }
    assert_eq!(server.asked(), [""; 0]);
}
