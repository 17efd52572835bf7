//! Keys of every kind.

use crate::objects::{get, put};
use crate::server::Server;
use stoa_objects::Error;
use stoa_objects::s3::{List, S3Bucket};

/// Keys that are paths of files, too.
const PLAIN: &[&str] = &[
    "keys/a b",
    "keys/a+b",
    "keys/a%20b",
    "keys/%",
    "keys/%2F",
    "keys/ü/日本/🦀",
    "keys/e\u{301}",
    "keys/<&>\"'",
    "keys/#?;=:@$,!*()[]{}|^`~",
    "keys/back\\slash",
    "keys/.hidden",
    "keys/...",
    "keys/ leading and trailing ",
    "keys/tab\tand\u{7f}",
    "keys/line\nfeed\r",
];

/// Such that XML has no words for.
const CONTROL: &[&str] = &["keys/\u{1}", "keys/control\u{1f}\u{8}"];

/// And those that are not.
const ODD: &[&str] = &[
    "keys//two",
    "keys///three",
    "keys/dir/",
    "keys/dir//",
    "keys/dir/below",
    "keys/./dot",
    "keys/../dots",
    "keys/..",
    "keys/.",
    "/keys/slash first",
    "//keys",
    "/",
    ".",
    "..",
    "../keys",
];

pub(crate) async fn every_key_comes_back(server: &Server) {
    let bucket = &server.bucket;
    let mut keys: Vec<&str> = PLAIN.to_vec();
    if server.can.odd_keys {
        keys.extend(ODD);
    }
    for key in &keys {
        put(bucket, key, key.as_bytes()).await;
    }
    for key in CONTROL {
        put(bucket, key, key.as_bytes()).await;
        assert_eq!(get(bucket, key).await, key.as_bytes(), "{key:?}");
        assert_eq!(list(bucket, "keys/").await.iter().any(|found| found == key), server.can.control_keys, "{key:?}");
    }
    let control: Vec<String> = CONTROL.iter().map(|key| (*key).to_owned()).collect();
    assert!(bucket.delete_many(&control).await.unwrap().iter().all(Result::is_ok));
    let listed = list(bucket, "").await;
    for key in &keys {
        assert_eq!(get(bucket, key).await, key.as_bytes(), "{key:?}");
        assert_eq!(bucket.head(key, None).await.unwrap().size, key.len() as u64, "{key:?}");
        assert!(listed.iter().any(|found| found == key), "{key:?} is not in {listed:?}");
        assert!(list(bucket, key).await.iter().any(|found| found == key), "{key:?}");
    }
    if server.can.odd_keys {
        let page = bucket.list(&List { prefix: "keys/".into(), delimiter: Some("/".into()), ..List::default() }).await;
        assert_eq!(page.unwrap().prefixes, ["keys/../", "keys/./", "keys//", "keys/dir/", "keys/ü/"]);
    }
    for (n, key) in keys.iter().enumerate() {
        if n % 2 == 0 {
            bucket.delete(key, None, None).await.unwrap();
        }
    }
    let rest: Vec<String> = keys.iter().skip(1).step_by(2).map(|key| (*key).to_owned()).collect();
    let results = bucket.delete_many(&rest).await.unwrap();
    for (key, result) in rest.iter().zip(results) {
        result.unwrap_or_else(|error| panic!("{key:?}: {error}"));
    }
    for key in &keys {
        assert!(bucket.head(key, None).await.unwrap_err().is_not_found(), "{key:?}");
    }
}

pub(crate) async fn list(bucket: &S3Bucket, prefix: &str) -> Vec<String> {
    let mut keys = Vec::new();
    let mut list = List { prefix: prefix.to_owned(), ..List::default() };
    loop {
        let page = bucket.list(&list).await.unwrap();
        keys.extend(page.objects.into_iter().map(|object| object.key));
        match page.next {
            Some(next) => list.continuation = Some(next),
            None => return keys,
        }
    }
}

pub(crate) async fn many_are_deleted_at_once(server: &Server) {
    let bucket = &server.bucket;
    let keys: Vec<String> = (0..1100).map(|n| format!("many/{n:04} <&>")).collect();
    let puts = keys.iter().step_by(100).map(|key| put(bucket, key, b"x"));
    futures::future::join_all(puts).await;
    let results = bucket.delete_many(&keys).await.unwrap();
    assert!(results.len() == keys.len() && results.iter().all(Result::is_ok));
    assert!(list(bucket, "many/").await.is_empty());
    assert!(bucket.delete_many(&[]).await.unwrap().is_empty());
    if let Some(here) = &server.here {
        here.protect("bucket", "many/kept");
        put(bucket, "many/kept", b"x").await;
        let results = bucket.delete_many(&["many/a", "many/kept", "many/b"].map(str::to_owned)).await.unwrap();
        assert!(results[0].is_ok() && matches!(results[1], Err(Error::Denied { .. })) && results[2].is_ok());
        assert_eq!(list(bucket, "many/").await, ["many/kept"]);
        let error = bucket.delete("many/kept", None, None).await.unwrap_err();
        assert!(matches!(error, Error::Denied { .. }), "{error}");
    }
}
