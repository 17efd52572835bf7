//! What an export makes of what others do meanwhile, against a server in this process.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::sync::Arc;
use stoa_objects::ConnectOptions;
use stoa_objects::s3::S3Bucket;
use stoa_objects::testing::{S3Fault, S3Server};
use stoa_transfer::{Export, Options, Report, Tally};

async fn exported(dir: &Path, s3: &S3Bucket) -> Report {
    let options = Options { parallel: 2, overwrite: false, dry_run: false, unverified: false, customer_key: false };
    let tally = Arc::new(Tally::default());
    Export::new(dir, s3.clone(), "", options, Arc::clone(&tally)).unwrap().run().await.unwrap();
    tally.report()
}

#[tokio::test]
async fn what_comes_between_the_look_and_the_write_is_looked_at() {
    let server = S3Server::start("bucket").await.unwrap();
    let s3 = server.bucket("bucket", &ConnectOptions::default()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "content").unwrap();
    assert_eq!(exported(dir.path(), &s3).await.files, 1);
    // It was not there when it was looked for, and is when it is written: as a request of an export that was killed.
    server.faults.next("HEAD", "file", S3Fault::Status(404));
    let again = exported(dir.path(), &s3).await;
    assert_eq!((again.files, again.same, again.problem_count, server.faults.pending()), (0, 1, 0, 0));
    // What differs is still nobody's to replace.
    std::fs::write(dir.path().join("file"), "other content").unwrap();
    server.faults.next("HEAD", "file", S3Fault::Status(404));
    let differs = exported(dir.path(), &s3).await;
    assert_eq!((differs.files, differs.same, differs.problem_count), (0, 0, 1), "{differs:?}");
}
