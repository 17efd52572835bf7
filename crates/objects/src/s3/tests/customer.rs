//! The key of a customer (SSE-C): which requests carry it.

use super::canned::{Canned, answer, error};
use super::{client_with, options};
use crate::s3::{Condition, CopyHeaders, CustomerKey, Encryption, Headers, Read, S3Bucket, Source, Storage};
use crate::{ConnectOptions, Error};

const KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
const OBJECT: &str = "\r\nx-amz-server-side-encryption-customer-";
const SOURCE: &str = "\r\nx-amz-copy-source-server-side-encryption-customer-";
const SEALED: (&str, &str) = ("x-amz-server-side-encryption-customer-algorithm", "AES256");
const TAGGED: &[(&str, &str)] = &[("ETag", "\"e\""), SEALED];
const BEGUN: &str = "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>";
const COPIED: &str = "<CopyObjectResult><ETag>\"e\"</ETag></CopyObjectResult>";

fn customer_key() -> CustomerKey {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), KEY).unwrap();
    CustomerKey::read(file.path()).unwrap()
}

async fn keyed(answers: impl IntoIterator<Item = Vec<u8>>) -> (Canned, S3Bucket) {
    let server = Canned::start(answers).await;
    let options = ConnectOptions { customer_key: Some(customer_key()), ..options(&server) };
    let bucket = client_with(&server, &options);
    (server, bucket)
}

fn sealed() -> Headers {
    Headers { storage: Storage { class: None, encryption: Some(Encryption::Customer) }, ..Headers::default() }
}

/// What a server says that knows such keys, of one whose MD5 is another's.
fn wrong_md5() -> Vec<u8> {
    let said = "The calculated MD5 hash of the key did not match the hash that was provided.";
    answer(400, &[], &format!("<Error><Code>InvalidArgument</Code><Message>{said}</Message></Error>"))
}

fn source() -> Source {
    Source { key: "s".to_owned(), ..Source::default() }
}

/// Whether a request carries the key of its object, and that of what it copies from: all three headers, or none.
fn carries(asked: &str) -> (bool, bool) {
    let all = |prefix: &str| {
        let lines = [format!("{prefix}algorithm: AES256\r\n"), format!("{prefix}key: {KEY}\r\n")];
        let found = asked.matches(prefix).count();
        assert!(found == 0 || (found == 3 && lines.iter().all(|line| asked.contains(line))), "{asked}");
        found > 0
    };
    (all(OBJECT), all(SOURCE))
}

#[tokio::test]
async fn it_goes_with_what_reads_and_writes_content() {
    let part = "<CopyPartResult><ETag>\"p\"</ETag></CopyPartResult>";
    let completed = "<CompleteMultipartUploadResult><ETag>\"e\"</ETag></CompleteMultipartUploadResult>";
    let listed = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";
    let (server, bucket) = keyed([
        wrong_md5(),
        answer(200, TAGGED, ""),
        answer(200, &[], BEGUN),
        answer(200, TAGGED, ""),
        answer(200, &[], part),
        answer(200, &[], completed),
        answer(200, TAGGED, "abc"),
        answer(200, TAGGED, ""),
        answer(200, TAGGED, ""),
        answer(200, &[], COPIED),
        answer(204, &[], ""),
        answer(200, &[], listed),
    ])
    .await;
    bucket.put("k", "x".into(), &sealed(), &Condition::None).await.unwrap();
    let upload = bucket.create_upload("k", &sealed()).await.unwrap();
    let one = bucket.upload_part(&upload, 1, "x".into()).await.unwrap();
    let two = bucket.upload_part_copy(&upload, 2, &source(), Some(0..9)).await.unwrap();
    bucket.complete_upload(&upload, &[one, two], &Condition::None).await.unwrap();
    let read = bucket.get("k", &Read::default()).await.unwrap();
    assert_eq!(read.info.headers.storage.encryption, Some(Encryption::Customer));
    bucket.head("k", None).await.unwrap();
    bucket.checksum("k", "\"e\"").await.unwrap();
    bucket.copy(&source(), "k", &CopyHeaders::Replace(sealed()), &Condition::None).await.unwrap();
    bucket.delete("k", None, None).await.unwrap();
    bucket.list(&crate::s3::List::default()).await.unwrap();
    let asked = server.asked();
    let carried: Vec<_> = asked.iter().skip(1).map(|asked| carries(asked)).collect();
    let (object, both, none) = ((true, false), (true, true), (false, false));
    assert_eq!(carried, [object, object, object, both, object, object, object, object, both, none, none]);
    // The first asks whether the server knows such keys at all, with none of ours.
    assert!(asked[0].starts_with("POST /bucket/k?uploads= ") && !asked[0].contains(KEY), "{}", asked[0]);
    for asked in &asked[1..4] {
        let signed = asked.lines().find(|line| line.starts_with("authorization: ")).unwrap();
        assert!(signed.contains("x-amz-server-side-encryption-customer-key-md5"), "{signed}");
    }
}

#[tokio::test]
async fn what_was_encrypted_otherwise_stays_so() {
    let (server, bucket) = keyed([answer(200, &[("ETag", "\"e\"")], ""), answer(200, &[], COPIED)]).await;
    bucket.put("k", "x".into(), &Headers::default(), &Condition::None).await.unwrap();
    bucket.copy(&source(), "k", &CopyHeaders::Replace(Headers::default()), &Condition::None).await.unwrap();
    assert_eq!(server.asked().iter().map(|asked| carries(asked)).collect::<Vec<_>>(), [(false, false), (false, true)]);
}

#[tokio::test]
async fn objects_without_it_are_found_out_and_the_next_is_taken_for_one_too() {
    let plain = &[("ETag", "\"e\"")];
    let (server, bucket) = keyed([
        error(400, "InvalidRequest"),
        answer(200, plain, "abc"),
        answer(200, plain, ""),
        answer(400, &[], ""),
        answer(200, TAGGED, ""),
        error(400, "InvalidRequest"),
        answer(200, &[], COPIED),
    ])
    .await;
    let read = bucket.get("plain", &Read::default()).await.unwrap();
    assert_eq!(read.info.headers.storage.encryption, None);
    bucket.head("plain", None).await.unwrap();
    bucket.head("sealed", None).await.unwrap();
    bucket.copy(&source(), "k", &CopyHeaders::Replace(Headers::default()), &Condition::None).await.unwrap();
    let carried: Vec<_> = server.asked().iter().map(|asked| carries(asked)).collect();
    let (object, from, none) = ((true, false), (false, true), (false, false));
    assert_eq!(carried, [object, none, none, none, object, from, none]);
}

#[tokio::test]
async fn what_is_wrong_either_way_is_told_as_it_was_first() {
    let first = answer(400, &[], "<Error><Code>InvalidRequest</Code><Message>the first</Message></Error>");
    let (server, bucket) = keyed([first, error(400, "InvalidRequest"), error(403, "AccessDenied")]).await;
    let failed = bucket.get("k", &Read::default()).await.unwrap_err();
    assert!(failed.to_string().contains("the first"), "{failed}");
    // Of another key.
    let failed = bucket.get("k", &Read::default()).await.unwrap_err();
    assert!(matches!(failed, Error::Denied { .. }) && server.answers_left() == 0, "{failed}");
    assert!(!format!("{failed:?} {bucket:?}").contains(KEY));
}

#[tokio::test]
async fn a_server_that_ignores_it_gets_nothing() {
    let (server, bucket) = keyed([answer(200, &[], BEGUN), answer(204, &[], "")]).await;
    let failed = bucket.put("k", "the content".into(), &sealed(), &Condition::None).await.unwrap_err();
    assert!(matches!(failed, Error::Unsupported { .. }), "{failed}");
    let asked = server.asked();
    assert!(asked.len() == 2 && asked[1].starts_with("DELETE /bucket/k?uploadId=u "), "{asked:?}");
    assert!(!asked.iter().any(|asked| asked.contains("the content")));
}

/// One that ignores the key may refuse the first name for what that is, and would take the next in the clear.
#[tokio::test]
async fn a_refusal_for_another_reason_is_no_proof_that_a_server_knows_such_keys() {
    let (server, bucket) = keyed([error(400, "KeyTooLongError"), answer(200, &[], BEGUN), answer(204, &[], "")]).await;
    let failed = bucket.put("long", "the content".into(), &sealed(), &Condition::None).await.unwrap_err();
    assert!(failed.to_string().contains("KeyTooLongError"), "{failed}");
    let failed = bucket.put("k", "the content".into(), &sealed(), &Condition::None).await.unwrap_err();
    assert!(matches!(failed, Error::Unsupported { .. }), "{failed}");
    assert!(!server.asked().iter().any(|asked| asked.contains("the content")));
}

#[tokio::test]
async fn without_a_key_nothing_is_written_that_needs_it() {
    let server = Canned::start([wrong_md5()]).await;
    let bucket = super::client(&server);
    let failed = bucket.put("k", "x".into(), &sealed(), &Condition::None).await.unwrap_err();
    assert!(failed.to_string().contains("--sse-key-file"), "{failed}");
    assert!(!server.asked().iter().any(|asked| asked.starts_with("PUT ")));
}

#[tokio::test]
async fn it_is_not_sent_where_others_can_listen() {
    let server = Canned::start([]).await;
    let keyed = ConnectOptions { customer_key: Some(customer_key()), ..options(&server) };
    for (endpoint, fits) in [("http://192.0.2.1:9000", false), ("https://192.0.2.1:9000", true), ("http://[::1]", true)]
    {
        let access = crate::connect::aws::Access {
            endpoint: Some(endpoint.to_owned()),
            region: "us-east-1".to_owned(),
            credentials: None,
        };
        let made = S3Bucket::with_access("bucket", access, &keyed);
        assert_eq!(made.is_ok(), fits, "{endpoint}");
        assert!(made.err().is_none_or(|error| error.to_string().contains("https://")), "{endpoint}");
    }
}
