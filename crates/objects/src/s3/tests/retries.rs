//! What is repeated, and what is not.

use super::canned::{Canned, answer, error, promising};
use super::{SECRET, client};
use crate::s3::{Condition, Headers, List, Part, Read, Source, Upload};
use crate::{Error, Verb};
use futures::TryStreamExt;
use object_store::GetRange;

const DONE: &str =
    "<?xml version=\"1.0\"?>\n   <CompleteMultipartUploadResult><ETag>\"e-1\"</ETag></CompleteMultipartUploadResult>";
const INSIDE: &str =
    "   \n<?xml version=\"1.0\"?>\n  <Error><Code>InternalError</Code><Message>sorry</Message></Error>";

fn upload() -> Upload {
    Upload {
        key: "k".to_owned(),
        id: "u".to_owned(),
        tag: Some("ours".to_owned()),
        customer: false,
        summed: false,
        begun: None,
    }
}

fn parts() -> [Part; 1] {
    [Part { number: 1, etag: "\"p\"".to_owned(), checksum: None }]
}

#[tokio::test]
async fn a_success_with_an_error_inside_is_an_error() {
    let server = Canned::start([answer(200, &[], INSIDE), answer(200, &[], DONE)]).await;
    let written = client(&server).complete_upload(&upload(), &parts(), &Condition::None).await.unwrap();
    assert_eq!(written.etag, "\"e-1\"");
    assert_eq!(server.asked().len(), 2);

    let refused = "<Error><Code>InvalidPart</Code><Message>a part is missing</Message></Error>";
    let server = Canned::start([answer(200, &[], refused)]).await;
    let failed = client(&server).complete_upload(&upload(), &parts(), &Condition::None).await.unwrap_err();
    assert_eq!(
        failed.to_string(),
        "complete upload of \"k\": the store refuses the request (HTTP 200 InvalidPart: a part is missing)"
    );

    let server = Canned::start([
        answer(200, &[], INSIDE),
        answer(200, &[], "<CopyPartResult><ETag>\"p\"</ETag></CopyPartResult>"),
    ])
    .await;
    let source = Source { key: "s".to_owned(), ..Source::default() };
    let part = client(&server).upload_part_copy(&upload(), 3, &source, Some(0..5)).await.unwrap();
    assert_eq!(part, Part { number: 3, etag: "\"p\"".to_owned(), checksum: None });
    assert!(server.asked()[1].contains("x-amz-copy-source-range: bytes=0-4\r\n"));
}

#[tokio::test]
async fn a_completion_that_was_cut_is_looked_for() {
    let ours: &[(&str, &str)] = &[("ETag", "\"e-1\""), ("x-amz-meta-stoaputid", "ours")];
    let other: &[(&str, &str)] = &[("ETag", "\"e-2\""), ("x-amz-meta-stoaputid", "theirs")];
    for (found, own) in [(ours, true), (other, false)] {
        let server =
            Canned::start([promising(200, &[], "", 100), error(404, "NoSuchUpload"), answer(200, found, "")]).await;
        let done = client(&server).complete_upload(&upload(), &parts(), &Condition::None).await;
        match own {
            true => assert_eq!(done.unwrap().etag, "\"e-1\""),
            false => assert!(matches!(done.unwrap_err(), Error::NoSuchUpload { .. })),
        }
        assert_eq!(server.answers_left(), 0);
    }
    // Without an attempt whose answer was lost, it is a plain answer.
    let server = Canned::start([error(404, "NoSuchUpload"), answer(200, ours, "")]).await;
    let done = client(&server).complete_upload(&upload(), &parts(), &Condition::None).await;
    assert!(matches!(done.unwrap_err(), Error::NoSuchUpload { .. }));
    // Nor is a conflict repeated: the upload may be gone.
    let server = Canned::start([error(409, "ConditionalRequestConflict")]).await;
    let done = client(&server).complete_upload(&upload(), &parts(), &Condition::IfAbsent).await;
    assert!(matches!(done.unwrap_err(), Error::Conflict { .. }));
}

#[tokio::test]
async fn a_conflict_may_be_with_our_own_completion_whose_answer_was_lost() {
    let conflict = || error(409, "ConditionalRequestConflict");
    let ours = || answer(200, &[("ETag", "\"e-1\""), ("x-amz-meta-stoaputid", "ours")], "");
    let other = || answer(200, &[("ETag", "\"e-0\""), ("x-amz-meta-stoaputid", "theirs")], "");
    let condition = Condition::IfMatch("\"e-0\"".to_owned());
    let server = Canned::start([promising(200, &[], "", 100), conflict(), other(), conflict(), ours()]).await;
    let done = client(&server).complete_upload(&upload(), &parts(), &condition).await;
    assert_eq!(done.unwrap().etag, "\"e-1\"");

    // One that stays is another's.
    let lost = [promising(200, &[], "", 100)];
    let server = Canned::start(lost.into_iter().chain((0..20).flat_map(|_| [conflict(), other()]))).await;
    let done = client(&server).complete_upload(&upload(), &parts(), &condition).await;
    assert!(matches!(done.unwrap_err(), Error::Conflict { .. }));
}

#[tokio::test]
async fn answers_that_make_no_sense_are_asked_for_again_a_few_times() {
    let html = "<html><body>a proxy</body></html>";
    let server = Canned::start((0..10).map(|_| answer(200, &[], html))).await;
    let failed = client(&server).list(&List::default()).await.unwrap_err();
    assert!(matches!(failed, Error::Corrupt { .. }), "{failed}");
    assert_eq!(server.asked().len(), 4);

    let wrong = || answer(206, &[("Content-Range", "bytes 0-1/9"), ("ETag", "\"e\"")], "ab");
    let right = answer(206, &[("Content-Range", "bytes 2-3/9"), ("ETag", "\"e\"")], "cd");
    let server = Canned::start([wrong(), right]).await;
    let read = Read { range: Some(GetRange::Bounded(2..4)), ..Read::default() };
    let object = client(&server).get("k", &read).await.unwrap();
    assert_eq!(object.body.try_collect::<Vec<_>>().await.unwrap().concat(), b"cd");
}

#[tokio::test]
async fn a_server_that_ignores_ranges_is_found_out() {
    let server = Canned::start([answer(200, &[("ETag", "\"e\"")], "abcdefghi")]).await;
    let read = Read { range: Some(GetRange::Bounded(2..4)), ..Read::default() };
    let failed = client(&server).get("k", &read).await.unwrap_err();
    assert!(matches!(failed, Error::Unsupported { .. }), "{failed}");
}

#[tokio::test]
async fn a_body_that_is_cut_goes_on_where_it_stopped_if_it_is_the_same() {
    let first = || promising(200, &[("ETag", "\"e\"")], "abcd", 9);
    let rest = answer(206, &[("Content-Range", "bytes 4-8/9"), ("ETag", "\"e\"")], "efghi");
    let server = Canned::start([first(), error(503, "SlowDown"), rest]).await;
    let bucket = client(&server);
    let object = bucket.get("k", &Read::default()).await.unwrap();
    assert_eq!(object.body.try_collect::<Vec<_>>().await.unwrap().concat(), b"abcdefghi");
    let asked = server.asked();
    assert!(
        asked[2].contains("\r\nrange: bytes=4-8\r\n") && asked[2].contains("\r\nif-match: \"e\"\r\n"),
        "{}",
        asked[2]
    );
    assert_eq!(bucket.meter().counts().of(Verb::Get), 3);
    assert_eq!(bucket.meter().counts().bytes_in, 9);

    let server = Canned::start([first(), error(412, "PreconditionFailed")]).await;
    let object = client(&server).get("k", &Read::default()).await.unwrap();
    let failed = object.body.try_collect::<Vec<_>>().await.unwrap_err();
    assert!(matches!(failed, Error::Conflict { .. }), "{failed}");

    // Not every server heeds the condition.
    let other = answer(206, &[("Content-Range", "bytes 4-8/9"), ("ETag", "\"other\"")], "EFGHI");
    let server = Canned::start([first(), other]).await;
    let object = client(&server).get("k", &Read::default()).await.unwrap();
    let failed = object.body.try_collect::<Vec<_>>().await.unwrap_err();
    assert!(matches!(failed, Error::Conflict { .. }), "{failed}");

    // Without a tag nobody knows whether it is the same.
    let server = Canned::start([promising(200, &[], "abcd", 9)]).await;
    let object = client(&server).get("k", &Read::default()).await.unwrap();
    let failed = object.body.try_collect::<Vec<_>>().await.unwrap_err();
    assert!(matches!(failed, Error::Corrupt { .. }), "{failed}");
}

/// To name a version takes a right of its own (`s3:GetObjectVersion`), which who may read may lack.
#[tokio::test]
async fn the_rest_of_a_cut_body_names_a_version_only_if_its_reader_did() {
    for (version, path) in [(None, "GET /bucket/k HTTP/1.1"), (Some("v1"), "GET /bucket/k?versionId=v1 HTTP/1.1")] {
        let head = [("ETag", "\"e\""), ("x-amz-version-id", "v1")];
        let rest = [head[0], head[1], ("Content-Range", "bytes 4-8/9")];
        let server = Canned::start([promising(200, &head, "abcd", 9), answer(206, &rest, "efghi")]).await;
        let read = Read { version: version.map(str::to_owned), ..Read::default() };
        let object = client(&server).get("k", &read).await.unwrap();
        assert_eq!(object.body.try_collect::<Vec<_>>().await.unwrap().concat(), b"abcdefghi");
        assert!(server.asked()[1].starts_with(path), "{:?}", server.asked());
    }
}

#[tokio::test]
async fn what_may_not_be_done_is_said_at_once() {
    let server = Canned::start([error(403, "AccessDenied")]).await;
    let failed = client(&server).put("k", "x".into(), &Headers::default(), &Condition::None).await.unwrap_err();
    assert_eq!(failed.to_string(), "put \"k\": permission denied (HTTP 403 AccessDenied: canned)");
    assert_eq!(server.asked().len(), 1);
    assert!(!format!("{failed:?}").contains(SECRET));
}

#[tokio::test]
async fn credentials_that_expired_are_waited_for_a_while() {
    let server = Canned::start([error(400, "ExpiredToken"), answer(200, &[("ETag", "\"e\"")], "")]).await;
    client(&server).put("k", "x".into(), &Headers::default(), &Condition::None).await.unwrap();
    assert_eq!(server.answers_left(), 0);
}

#[tokio::test]
async fn conflicts_of_puts_are_repeated_and_then_lost() {
    let server = Canned::start((0..20).map(|_| error(409, "ConditionalRequestConflict"))).await;
    let failed = client(&server).put("k", "x".into(), &Headers::default(), &Condition::IfAbsent).await.unwrap_err();
    assert!(matches!(failed, Error::Conflict { .. }), "{failed}");
    assert_eq!(server.asked().len(), 11);
}

#[tokio::test]
async fn keys_that_fail_for_the_moment_are_deleted_by_another_request() {
    let first = "<DeleteResult><Deleted><Key>a</Key></Deleted>\
        <Error><Key>b</Key><Code>SlowDown</Code><Message/></Error>\
        <Error><Key>c</Key><Code>AccessDenied</Code><Message>no</Message></Error></DeleteResult>";
    let second = "<DeleteResult><Deleted><Key>b&amp;&lt;</Key></Deleted><Deleted><Key>b</Key></Deleted></DeleteResult>";
    let server = Canned::start([answer(200, &[], first), answer(200, &[], second)]).await;
    let keys = ["a", "b", "c", "b&<"].map(str::to_owned);
    let results = client(&server).delete_many(&keys).await.unwrap();
    assert!(results[0].is_ok() && results[1].is_ok() && results[3].is_ok());
    assert!(matches!(&results[2], Err(Error::Denied { op, .. }) if op == "delete \"c\""));
    let asked = server.asked();
    assert!(asked[0].starts_with("POST /bucket?delete= ") && asked[0].contains("content-md5: "));
    assert!(asked[0].contains("<Key>b&amp;&lt;</Key>"));
    assert!(!asked[1].contains("<Key>a</Key>") && !asked[1].contains("<Key>c</Key>"));
}

#[tokio::test]
async fn a_bucket_that_is_gone_is_no_missing_object() {
    // The bucket is asked for, as the answer to a head does not tell.
    let server =
        Canned::start([answer(404, &[], ""), answer(404, &[], ""), answer(200, &[("ETag", "\"e\"")], "")]).await;
    client(&server).head("k", None).await.unwrap();
    assert!(server.asked()[1].starts_with("HEAD /bucket HTTP/1.1"));

    let server = Canned::start([answer(404, &[], ""), answer(200, &[], ""), answer(404, &[], "")]).await;
    let bucket = client(&server);
    for _ in 0..2 {
        assert!(bucket.head("k", None).await.unwrap_err().is_not_found());
    }
    assert_eq!(server.asked().len(), 3, "the bucket was seen a moment ago");
}

#[tokio::test]
async fn a_listing_that_does_not_get_on_ends() {
    let stuck = "<ListBucketResult><IsTruncated>true</IsTruncated>\
        <NextContinuationToken>t</NextContinuationToken></ListBucketResult>";
    let server = Canned::start((0..10).map(|_| answer(200, &[], stuck))).await;
    let bucket = client(&server);
    let next = bucket.list(&List::default()).await.unwrap().next;
    let failed = bucket.list(&List { continuation: next, ..List::default() }).await.unwrap_err();
    assert!(matches!(failed, Error::Corrupt { .. }), "{failed}");
}
