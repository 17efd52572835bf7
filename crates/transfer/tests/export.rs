//! What an export makes of what others do meanwhile, against a server in this process.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use stoa_objects::ConnectOptions;
use stoa_objects::s3::{Condition, Headers, S3Bucket};
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

/// As rclone leaves them: of the same time as the file, with metadata and a type that the file knows nothing of.
fn of_somebody_else(mtime: &str) -> Headers {
    let metadata = [("mtime", mtime), ("md5chksum", "mgNkuembtIDdJeHwKEyFVQ==")];
    Headers {
        metadata: metadata.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        content_type: Some("image/png".to_owned()),
        ..Headers::default()
    }
}

#[tokio::test]
async fn what_others_say_of_the_same_content_stays() {
    let server = S3Server::start("bucket").await.unwrap();
    let s3 = server.bucket("bucket", &ConnectOptions::default()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    std::fs::write(&path, "content").unwrap();
    let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(at).unwrap();
    let headers = of_somebody_else("1700000000");
    s3.put("file", "content".into(), &headers, &Condition::None).await.unwrap();
    let before = s3.head("file", None).await.unwrap();

    let same = exported(dir.path(), &s3).await;
    assert_eq!((same.files, same.same, same.problem_count), (0, 1, 0), "{same:?}");
    // What it says is not so: only the person can know which of them is right.
    let differing = Headers {
        metadata: headers.metadata.clone().into_iter().chain([("mode".to_owned(), "33261".to_owned())]).collect(),
        ..headers
    };
    s3.put("file", "content".into(), &differing, &Condition::None).await.unwrap();
    let differs = exported(dir.path(), &s3).await;
    assert_eq!((differs.files, differs.same, differs.problem_count), (0, 0, 1), "{differs:?}");
    let after = s3.head("file", None).await.unwrap();
    assert_eq!((after.headers.content_type, after.etag), (before.headers.content_type, before.etag));
    assert_eq!(after.headers.metadata, differing.metadata);

    // What was exported from here, and says less than the file by now, is replaced: that takes nothing from anybody.
    s3.delete("file", None, None).await.unwrap();
    assert_eq!(exported(dir.path(), &s3).await.files, 1);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    let changed = exported(dir.path(), &s3).await;
    assert_eq!((changed.files, changed.same, changed.problem_count), (1, 0, 0), "{changed:?}");
}
