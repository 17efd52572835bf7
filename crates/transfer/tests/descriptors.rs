//! An import of more directories than a process may have open. In a program of its own: the limit is one of the process.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rustix::process::{Resource, Rlimit, setrlimit};
use std::sync::Arc;
use stoa_objects::ConnectOptions;
use stoa_objects::s3::{Condition, Headers};
use stoa_objects::testing::S3Server;
use stoa_transfer::{Import, Options, Tally};

const DIRECTORIES: usize = 1000;

#[tokio::test]
async fn there_may_be_more_directories_than_may_be_open() {
    let server = S3Server::start("bucket").await.unwrap();
    let s3 = server.bucket("bucket", &ConnectOptions::default()).unwrap();
    for n in 0..DIRECTORIES {
        s3.put(&format!("d{n}/file"), "content".into(), &Headers::default(), &Condition::None).await.unwrap();
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(512), maximum: Some(512) }).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let options = Options { parallel: 8, overwrite: false, dry_run: false, unverified: false, customer_key: false };
    let tally = Arc::new(Tally::default());
    Import::new(s3, "", dir.path(), options, Arc::clone(&tally)).unwrap().run().await.unwrap();
    let report = tally.report();
    assert_eq!((report.files, report.problem_count), (DIRECTORIES as u64, 0), "{:?}", report.problems.first());
}
