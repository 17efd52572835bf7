//! Imports from a server in this process: what they cost, and two at once.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use stoa_objects::s3::{Condition, Headers, S3Bucket};
use stoa_objects::testing::{S3Fault, S3Server};
use stoa_objects::{ConnectOptions, Verb};
use stoa_transfer::{Import, Options, Tally};

/// So many names has a page of a listing.
const PAGE: usize = 1000;

fn import(s3: &S3Bucket, dir: &Path, dry_run: bool) -> (Arc<Import>, Arc<Tally>) {
    // With few jobs at once, what is asked for too much is also sent.
    let options = Options { parallel: 2, overwrite: false, dry_run, unverified: false, customer_key: false };
    let tally = Arc::new(Tally::default());
    (Import::new(s3.clone(), "", dir, options, Arc::clone(&tally)).unwrap(), tally)
}

/// How many files a dry run would copy, and how many pages it asked for.
async fn listed(s3: &S3Bucket) -> (u64, u64) {
    let dir = tempfile::tempdir().unwrap();
    let (import, tally) = import(s3, dir.path(), true);
    let before = s3.meter().counts();
    import.run().await.unwrap();
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

#[tokio::test]
async fn of_two_imports_at_once_one_copies_a_file() {
    let server = S3Server::start("bucket").await.unwrap();
    let s3 = server.bucket("bucket", &ConnectOptions::default()).unwrap();
    let content = vec![7; 30 << 20];
    s3.put("file", content.clone().into(), &Headers::default(), &Condition::None).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let names = || std::fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().file_name()).collect::<Vec<_>>();
    for delay in [0, 0, 1] {
        server.faults.next("GET", "/file", S3Fault::Delay(Duration::from_secs(delay)));
    }
    let (first, of_first) = import(&s3, dir.path(), false);
    let first = tokio::spawn(async move { first.run().await });
    while names().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let (second, of_second) = import(&s3, dir.path(), false);
    second.run().await.unwrap();
    first.await.unwrap().unwrap();
    let (first, second) = (of_first.report(), of_second.report());
    assert_eq!((first.files, first.problem_count), (1, 0), "{first:?}");
    assert_eq!((second.files, second.problem_count), (0, 1), "{second:?}");
    assert_eq!(names(), ["file"]);
    assert!(std::fs::read(dir.path().join("file")).unwrap() == content);
}

/// Of a file that lost its end when the machine did, the time is still that of its import. Who shortens one changes that.
#[tokio::test]
async fn a_file_that_lost_its_end_is_copied_again_and_one_that_was_cut_is_left() {
    let server = S3Server::start("bucket").await.unwrap();
    let s3 = server.bucket("bucket", &ConnectOptions::default()).unwrap();
    for key in ["lost", "cut"] {
        s3.put(key, vec![7; 1000].into(), &Headers::default(), &Condition::None).await.unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let run = async || {
        let (import, tally) = import(&s3, dir.path(), false);
        import.run().await.unwrap();
        tally.report()
    };
    assert_eq!(run().await.files, 2);
    for (name, keeps_time) in [("lost", true), ("cut", false)] {
        let file = std::fs::File::options().write(true).open(dir.path().join(name)).unwrap();
        let modified = file.metadata().unwrap().modified().unwrap();
        file.set_len(0).unwrap();
        if keeps_time {
            file.set_modified(modified).unwrap();
        }
    }
    let report = run().await;
    let left: Vec<&str> = report.problems.iter().map(|problem| problem.name.as_str()).collect();
    assert_eq!((report.files, left), (1, vec!["cut"]), "{report:?}");
    let len = |name: &str| std::fs::metadata(dir.path().join(name)).unwrap().len();
    assert_eq!((len("lost"), len("cut")), (1000, 0));
}

#[tokio::test]
async fn no_program_gets_the_rights_of_whoever_copies_it() {
    let server = S3Server::start("bucket").await.unwrap();
    let s3 = server.bucket("bucket", &ConnectOptions::default()).unwrap();
    // Regular, 06755, of nobody in particular.
    let headers = Headers { metadata: [("mode".to_owned(), "36333".to_owned())].into(), ..Headers::default() };
    s3.put("program", "content".into(), &headers, &Condition::None).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (import, tally) = import(&s3, dir.path(), false);
    import.run().await.unwrap();
    let report = tally.report();
    assert_eq!((report.files, report.attributes_left_out, report.problem_count), (1, 1, 0), "{report:?}");
    let mode = std::fs::metadata(dir.path().join("program")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
}
