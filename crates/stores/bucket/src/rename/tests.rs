use super::*;
use crate::Options;
use futures::FutureExt;
use std::pin::pin;
use stoa_objects::ConnectOptions;
use stoa_objects::testing::S3Server;

#[tokio::test]
async fn who_waits_for_a_move_works_where_it_has_led_and_keeps_its_turn() {
    let server = S3Server::start("bucket").await.unwrap();
    let s3 = server.bucket("bucket", &ConnectOptions::default()).unwrap();
    let bucket = Bucket::open(s3, "", &Options::default()).unwrap();
    let node_of = |prefix: &str| {
        let found = bucket.finder.directory(Directory::new(prefix), None);
        bucket.inodes.get(bucket.inodes.hand_out(&found).attr.ino).unwrap()
    };
    let (moved, other) = (node_of("a/"), node_of("c/"));
    let moving = bucket.begin(Work::Move, &[(moved.ino, None)]).await.unwrap();
    let places = [(moved.ino, None)];
    let mut below = pin!(bucket.begin(Work::Change, &places));
    assert!((&mut below).now_or_never().is_none());
    bucket.inodes.became(&moved, Target::Directory(Directory::new("b/")));
    drop(moving);
    let below = below.now_or_never().unwrap().unwrap();
    assert!(below.is_with(&["b/".to_owned()]));
    drop(below);

    let moving = bucket.begin(Work::Move, &places).await.unwrap();
    let mut below = pin!(bucket.begin(Work::Change, &places));
    assert!((&mut below).now_or_never().is_none());
    let mut later = pin!(bucket.begin(Work::Move, &places));
    assert!((&mut later).now_or_never().is_none());
    // What is moved elsewhere does not matter.
    bucket.inodes.became(&other, Target::Directory(Directory::new("d/")));
    drop(moving);
    assert!((&mut later).now_or_never().is_none());
    assert!(below.now_or_never().unwrap().unwrap().is_with(&["b/".to_owned()]));
}
