//! What an import costs, against a server in this process.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;
use stoa_objects::s3::{Condition, Headers, S3Bucket};
use stoa_objects::testing::S3Server;
use stoa_objects::{ConnectOptions, Verb};
use stoa_transfer::{Import, Options, Tally};

/// So many names has a page of a listing.
const PAGE: usize = 1000;

/// How many files a dry run would copy, and how many pages it asked for.
async fn listed(s3: &S3Bucket) -> (u64, u64) {
    let dir = tempfile::tempdir().unwrap();
    // With few jobs at once, what is asked for too much is also sent.
    let options = Options { parallel: 2, overwrite: false, dry_run: true, unverified: false, customer_key: false };
    let tally = Arc::new(Tally::default());
    let before = s3.meter().counts();
    Import::new(s3.clone(), "", dir.path(), options, Arc::clone(&tally)).unwrap().run().await.unwrap();
    let report = tally.report();
    assert_eq!(report.problem_count, 0, "{report:?}");
    (report.files, s3.meter().counts().since(&before).of(Verb::List))
}

#[tokio::test]
async fn each_page_of_the_listing_is_asked_for_once() {
    let server = S3Server::start("bucket").await.unwrap();
    let s3 = server.bucket("bucket", &ConnectOptions::default()).unwrap();
    let put = async |n: usize| {
        let key = format!("f{n:04}");
        s3.put(&key, Vec::new().into(), &Headers::default(), &Condition::None).await.unwrap();
    };
    assert_eq!(listed(&s3).await, (0, 1));
    for n in 0..PAGE {
        put(n).await;
    }
    assert_eq!(listed(&s3).await, (PAGE as u64, 1));
    put(PAGE).await;
    assert_eq!(listed(&s3).await, (PAGE as u64 + 1, 2));
}
