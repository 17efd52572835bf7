use super::*;
use crate::found::Version;
use crate::layout::plan;
use crate::{Bucket, Options};
use bytes::Bytes;
use stoa_objects::ConnectOptions;
use stoa_objects::s3::{Headers, ObjectInfo};
use stoa_objects::testing::S3Server;

#[tokio::test]
async fn what_is_too_long_to_be_sent_early_is_laid_out_at_the_end() {
    let server = S3Server::start("bucket").await.unwrap();
    let s3 = server.bucket("bucket", &ConnectOptions::default()).unwrap();
    let bucket = Bucket::open(s3, "", &Options { memory_bytes_max: 512 << 20, ..Options::default() }).unwrap();
    let sink = bucket.sink();
    for (size, is_sent) in [(500 << 30, true), (600 << 30, false)] {
        let version = Version { key: "file".into(), etag: Some("\"tag\"".into()), size, draft: 0 };
        let headers = Headers::default();
        let mut draft = Draft::of(&version, ObjectInfo { size, etag: None, modified: None, version: None, headers });
        draft.write(&sink, 8 << 20, Bytes::from(vec![1; 8 << 20])).await.unwrap();
        assert_eq!(!draft.sent.is_empty(), is_sent);
        assert!(plan(&mut draft.extents, &sink.grid(), &draft.sent).is_some(), "{size}");
        draft.give_up().await;
    }
}
