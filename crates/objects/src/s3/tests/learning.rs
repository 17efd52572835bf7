//! What is learnt from refusals: the region, and the time.

use super::canned::{Canned, answer, error};
use super::{client, options};
use crate::s3::{List, S3Bucket};
use crate::{ConnectOptions, Error};
use std::time::Duration;

const LISTED: &str = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";

#[tokio::test]
async fn the_region_is_corrected_once_and_remembered() {
    let server = Canned::start([
        answer(301, &[("x-amz-bucket-region", "eu-west-3")], "<Error><Code>PermanentRedirect</Code></Error>"),
        answer(200, &[], LISTED),
        answer(200, &[], LISTED),
    ])
    .await;
    let bucket = client(&server);
    bucket.list(&List::default()).await.unwrap();
    bucket.list(&List::default()).await.unwrap();
    let asked = server.asked();
    assert!(asked[0].contains("/us-east-1/s3/aws4_request"));
    assert!(asked[1].contains("/eu-west-3/s3/aws4_request") && asked[2].contains("/eu-west-3/s3/aws4_request"));
    assert_eq!(bucket.meter().counts().total(), 3);
}

#[tokio::test]
async fn a_head_tells_the_region_too_and_a_malformed_header_does_in_its_body() {
    let malformed = "<Error><Code>AuthorizationHeaderMalformed</Code><Region>ap-south-1</Region></Error>";
    let server = Canned::start([
        answer(400, &[("x-amz-bucket-region", "eu-west-3")], ""),
        answer(200, &[("ETag", "\"e\"")], ""),
        answer(400, &[], malformed),
        answer(200, &[], LISTED),
    ])
    .await;
    let bucket = client(&server);
    bucket.head("k", None).await.unwrap();
    bucket.list(&List::default()).await.unwrap();
    let asked = server.asked();
    assert!(asked[1].contains("/eu-west-3/s3/") && asked[3].contains("/ap-south-1/s3/"));
}

#[tokio::test]
async fn a_redirect_without_an_end_is_said() {
    let server = Canned::start([
        answer(301, &[("x-amz-bucket-region", "eu-west-3")], ""),
        answer(301, &[("x-amz-bucket-region", "us-east-1")], ""),
    ])
    .await;
    let failed = client(&server).list(&List::default()).await.unwrap_err();
    assert!(matches!(failed, Error::WrongRegion { .. }), "{failed}");
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn the_clock_is_corrected_by_the_servers() {
    let skewed = "<Error><Code>RequestTimeTooSkewed</Code><Message>too far</Message></Error>";
    let server = Canned::start([
        answer(403, &[("Date", "Fri, 24 May 2013 00:00:00 GMT")], skewed),
        answer(200, &[], LISTED),
        answer(200, &[], LISTED),
    ])
    .await;
    let bucket = client(&server);
    bucket.list(&List::default()).await.unwrap();
    bucket.list(&List::default()).await.unwrap();
    let asked = server.asked();
    assert!(!asked[0].contains("x-amz-date: 20130524T"));
    assert!(asked[1].contains("x-amz-date: 20130524T0000") && asked[2].contains("x-amz-date: 20130524T0000"));
}

#[tokio::test]
async fn a_clock_that_stays_wrong_is_said() {
    let server = Canned::start((0..30).map(|_| error(403, "RequestTimeTooSkewed"))).await;
    let failed = client(&server).list(&List::default()).await.unwrap_err();
    assert!(matches!(failed, Error::WrongCredentials { .. }), "{failed}");
}

#[tokio::test]
async fn plain_http_where_tls_is_expected_is_called_a_tls_problem() {
    // It says so for as long as it is asked.
    let server = Canned::start((0..100).map(|_| error(400, "NotTls"))).await;
    let options = ConnectOptions { endpoint: Some(server.endpoint.replace("http:", "https:")), ..options(&server) };
    let options = ConnectOptions { anonymous: true, ..options };
    let bucket = S3Bucket::connect("bucket", &options).await.unwrap();
    let failed = bucket.list(&List::default()).await.unwrap_err();
    assert!(matches!(failed, Error::Tls { .. }), "{failed}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let server = Canned::start([]).await;
    let options = ConnectOptions { anonymous: true, ..options(&server) };
    drop(server);
    let options = ConnectOptions { retry: options.retry.with_patience(Duration::from_millis(50)), ..options };
    let bucket = S3Bucket::connect("bucket", &options).await.unwrap();
    let failed = bucket.list(&List::default()).await.unwrap_err();
    let named = options.endpoint.unwrap();
    assert!(matches!(&failed, Error::Unreachable { endpoint, .. } if *endpoint == named), "{failed}");
}

#[tokio::test]
async fn what_is_no_bucket_is_refused() {
    let options = ConnectOptions { anonymous: true, ..ConnectOptions::default() };
    for name in ["", "a/b", "a b", "me@b", "b?x"] {
        assert!(S3Bucket::connect(name, &options).await.is_err(), "{name}");
    }
}
