//! The suite that every provider passes, with or without layers around it. Each check panics where it fails.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a panic is how a check fails"
)]

use bytes::Bytes;
use futures::future::join_all;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    CopyMode, CopyOptions, Error, GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
    PutResult, UpdateVersion,
};

/// Runs every check on `store`, which must be empty and is left so.
///
/// # Panics
/// When the store does not behave.
pub async fn run(store: &dyn ObjectStore) {
    crate::probe(store).await.unwrap();
    put_and_get(store).await;
    ranges(store).await;
    conditions(store).await;
    create(store).await;
    one_creator_wins(store).await;
    update(store).await;
    one_updater_wins(store).await;
    listing(store).await;
    many(store).await;
    multipart(store).await;
    copy_and_rename(store).await;
    delete(store).await;
    assert_eq!(keys(store, "").await, Vec::<String>::new(), "every check cleans up");
}

async fn put(store: &dyn ObjectStore, key: &str, bytes: &[u8], mode: PutMode) -> object_store::Result<PutResult> {
    store.put_opts(&Path::from(key), Bytes::copy_from_slice(bytes).into(), PutOptions::from(mode)).await
}

async fn read(store: &dyn ObjectStore, key: &str) -> Bytes {
    store.get(&Path::from(key)).await.unwrap().bytes().await.unwrap()
}

async fn keys(store: &dyn ObjectStore, prefix: &str) -> Vec<String> {
    let prefix = (!prefix.is_empty()).then(|| Path::from(prefix));
    store.list(prefix.as_ref()).map_ok(|meta| meta.location.to_string()).try_collect().await.unwrap()
}

async fn clear(store: &dyn ObjectStore) {
    let locations: Vec<_> = store.list(None).map_ok(|meta| meta.location).collect().await;
    store.delete_stream(futures::stream::iter(locations).boxed()).try_collect::<Vec<_>>().await.unwrap();
}

/// Bytes that differ from place to place.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

async fn put_and_get(store: &dyn ObjectStore) {
    for (key, length) in [("empty", 0), ("a/one", 1), ("a/b/some", 70_000), ("with space+%/ü", 9)] {
        let put = put(store, key, &pattern(length), PutMode::Overwrite).await.unwrap();
        assert!(put.e_tag.is_some(), "a put answers with a tag");
        assert_eq!(read(store, key).await, pattern(length), "{key}");
        let head = store.head(&Path::from(key)).await.unwrap();
        assert_eq!((head.size, head.e_tag), (length as u64, put.e_tag), "{key}");
    }
    put(store, "a/one", b"replaced", PutMode::Overwrite).await.unwrap();
    assert_eq!(read(store, "a/one").await, "replaced");
    let parts: PutPayload =
        [Bytes::from_static(b"in "), Bytes::new(), Bytes::from_static(b"pieces")].into_iter().collect();
    store.put(&Path::from("a/one"), parts).await.unwrap();
    assert_eq!(read(store, "a/one").await, "in pieces");
    for missing in ["missing", "a", "a/one/below"] {
        let answer = store.get(&Path::from(missing)).await;
        assert!(matches!(answer, Err(Error::NotFound { .. })), "{missing}: {answer:?}");
    }
    let large = pattern(20 << 20);
    put(store, "large", &large, PutMode::Overwrite).await.unwrap();
    assert!(read(store, "large").await == large, "20 MiB come back as they were put");
    clear(store).await;
}

async fn ranges(store: &dyn ObjectStore) {
    let (key, bytes) = (Path::from("r/object"), pattern(3_000_000));
    store.put(&key, bytes.clone().into()).await.unwrap();
    for (range, expected) in [
        (GetRange::Bounded(0..1), 0..1),
        (GetRange::Bounded(10..70_010), 10..70_010),
        (GetRange::Bounded(2_999_990..4_000_000), 2_999_990..3_000_000),
        (GetRange::Offset(1_500_000), 1_500_000..3_000_000),
        (GetRange::Suffix(7), 2_999_993..3_000_000),
    ] {
        let options = GetOptions { range: Some(range.clone()), ..GetOptions::default() };
        let result = store.get_opts(&key, options).await.unwrap();
        assert_eq!(result.meta.size, 3_000_000, "{range}: the size is that of the object");
        assert_eq!(result.range, expected.start as u64..expected.end as u64, "{range}");
        assert!(result.bytes().await.unwrap() == bytes[expected], "{range}");
    }
    assert!(store.get_range(&key, 3_000_000..3_000_001).await.is_err(), "behind the end there is nothing");
    let several = [0..5, 2_000_000..2_000_005, 3..9];
    let parts = store.get_ranges(&key, &several).await.unwrap();
    for (part, range) in parts.iter().zip(several) {
        assert_eq!(part, &bytes[range.start as usize..range.end as usize]);
    }
    clear(store).await;
}

async fn conditions(store: &dyn ObjectStore) {
    let key = Path::from("c");
    let first = put(store, "c", b"1", PutMode::Overwrite).await.unwrap().e_tag;
    let second = put(store, "c", b"2", PutMode::Overwrite).await.unwrap().e_tag;
    assert_ne!(first, second, "every put has a tag of its own");
    let unchanged = GetOptions { if_none_match: second.clone(), ..GetOptions::default() };
    assert!(matches!(store.get_opts(&key, unchanged).await, Err(Error::NotModified { .. })));
    let outdated = GetOptions { if_match: first, ..GetOptions::default() };
    assert!(matches!(store.get_opts(&key, outdated).await, Err(Error::Precondition { .. })));
    let current = GetOptions { if_match: second, ..GetOptions::default() };
    store.get_opts(&key, current).await.unwrap();
    clear(store).await;
}

async fn create(store: &dyn ObjectStore) {
    put(store, "n/new", b"first", PutMode::Create).await.unwrap();
    let again = put(store, "n/new", b"second", PutMode::Create).await;
    assert!(matches!(again, Err(Error::AlreadyExists { .. })), "{again:?}");
    put(store, "n/empty", b"", PutMode::Create).await.unwrap();
    let again = put(store, "n/empty", b"", PutMode::Create).await;
    assert!(matches!(again, Err(Error::AlreadyExists { .. })), "an empty object is one, too: {again:?}");
    assert_eq!(read(store, "n/new").await, "first");
    clear(store).await;
}

async fn one_creator_wins(store: &dyn ObjectStore) {
    for round in 0..5 {
        let key = format!("race/{round}/x");
        let bytes: Vec<String> = (0..16).map(|writer| format!("writer {writer}")).collect();
        let puts = join_all(bytes.iter().map(|bytes| put(store, &key, bytes.as_bytes(), PutMode::Create))).await;
        let winners: Vec<_> = (0..16).filter(|&writer| puts[writer].is_ok()).collect();
        assert_eq!(winners.len(), 1, "{puts:?}");
        assert_eq!(read(store, &key).await, bytes[winners[0]]);
    }
    clear(store).await;
}

async fn update(store: &dyn ObjectStore) {
    let version = |result: PutResult| PutMode::Update(UpdateVersion::from(result));
    let first = put(store, "u/x", b"first", PutMode::Create).await.unwrap();
    let second = put(store, "u/x", b"second", version(first.clone())).await.unwrap();
    let stale = put(store, "u/x", b"stale", version(first)).await;
    assert!(matches!(stale, Err(Error::Precondition { .. })), "{stale:?}");
    assert_eq!(read(store, "u/x").await, "second");
    store.delete(&Path::from("u/x")).await.unwrap();
    let gone = put(store, "u/x", b"gone", version(second)).await;
    assert!(matches!(gone, Err(Error::Precondition { .. })), "{gone:?}");
    assert_eq!(keys(store, "u").await, Vec::<String>::new());
}

async fn one_updater_wins(store: &dyn ObjectStore) {
    let mut version = put(store, "w", b"start", PutMode::Create).await.unwrap();
    for round in 0..5 {
        let bytes: Vec<String> = (0..8).map(|writer| format!("{round} {writer}")).collect();
        let mode = PutMode::Update(UpdateVersion::from(version.clone()));
        let puts = join_all(bytes.iter().map(|bytes| put(store, "w", bytes.as_bytes(), mode.clone()))).await;
        let winners: Vec<_> = (0..8).filter(|&writer| puts[writer].is_ok()).collect();
        assert_eq!(winners.len(), 1, "{puts:?}");
        assert_eq!(read(store, "w").await, bytes[winners[0]]);
        version = puts[winners[0]].as_ref().unwrap().clone();
    }
    clear(store).await;
}

async fn listing(store: &dyn ObjectStore) {
    let all = ["a-b/1", "a.txt", "a/1", "a/2/x", "a/2/y", "a/3", "ab", "b/1"];
    for key in all {
        put(store, key, key.as_bytes(), PutMode::Overwrite).await.unwrap();
    }
    assert_eq!(keys(store, "").await, all, "in the order of keys");
    assert_eq!(keys(store, "a").await, ["a/1", "a/2/x", "a/2/y", "a/3"], "a prefix ends at a slash");
    assert_eq!(keys(store, "a/1").await, Vec::<String>::new(), "an object is not under itself");
    assert_eq!(keys(store, "none").await, Vec::<String>::new());
    for after in ["a-b/0", "a/1", "a/2", "a/2/x", "a/2/xx", "b/1", "zzz"] {
        let rest = store.list_with_offset(None, &Path::from(after)).map_ok(|meta| meta.location.to_string());
        let rest: Vec<String> = rest.try_collect().await.unwrap();
        let expected: Vec<_> = all.into_iter().filter(|key| *key > after).collect();
        assert_eq!(rest, expected, "after {after}");
    }
    let level = store.list_with_delimiter(Some(&Path::from("a"))).await.unwrap();
    assert_eq!(level.common_prefixes, [Path::from("a/2")]);
    let objects: Vec<_> = level.objects.iter().map(|meta| (meta.location.as_ref(), meta.size)).collect();
    assert_eq!(objects, [("a/1", 3), ("a/3", 3)]);
    let mut top = store.list_with_delimiter(None).await.unwrap();
    top.common_prefixes.sort();
    assert_eq!(top.common_prefixes, [Path::from("a"), Path::from("a-b"), Path::from("b")]);
    store.delete(&Path::from("a/2/x")).await.unwrap();
    store.delete(&Path::from("a/2/y")).await.unwrap();
    let level = store.list_with_delimiter(Some(&Path::from("a"))).await.unwrap();
    assert_eq!(level.common_prefixes, [], "a directory without objects is nothing");
    clear(store).await;
}

async fn many(store: &dyn ObjectStore) {
    let names: Vec<String> = (0..1_234).map(|n| format!("m/{:02}/{n:05}", n % 7)).collect();
    let puts = futures::stream::iter(&names).map(|name| put(store, name, b"x", PutMode::Overwrite));
    puts.buffer_unordered(32).try_collect::<Vec<_>>().await.unwrap();
    let mut sorted = names.clone();
    sorted.sort();
    assert_eq!(keys(store, "m").await, sorted, "over several pages");
    clear(store).await;
}

async fn multipart(store: &dyn ObjectStore) {
    let (key, bytes) = (Path::from("p/big"), pattern(11 << 20));
    let mut upload = store.put_multipart(&key).await.unwrap();
    let parts: Vec<_> =
        bytes.chunks(5 << 20).map(|part| upload.put_part(Bytes::copy_from_slice(part).into())).collect();
    // The last is begun first: their order is that of `put_part`.
    join_all(parts.into_iter().rev()).await.into_iter().collect::<Result<Vec<_>, _>>().unwrap();
    assert_eq!(keys(store, "p").await, Vec::<String>::new(), "nothing is seen before it is complete");
    upload.complete().await.unwrap();
    assert!(read(store, "p/big").await == bytes);
    let mut upload = store.put_multipart(&Path::from("p/aborted")).await.unwrap();
    upload.put_part("x".into()).await.unwrap();
    upload.abort().await.unwrap();
    assert_eq!(keys(store, "p").await, ["p/big"]);
    clear(store).await;
}

async fn copy_and_rename(store: &dyn ObjectStore) {
    let (a, b, c) = (Path::from("x/a"), Path::from("y/z/b"), Path::from("y/c"));
    put(store, "x/a", b"content", PutMode::Overwrite).await.unwrap();
    store.copy(&a, &b).await.unwrap();
    assert_eq!(read(store, "y/z/b").await, "content");
    put(store, "x/a", b"changed", PutMode::Overwrite).await.unwrap();
    assert_eq!(read(store, "y/z/b").await, "content", "a copy is not a link");
    store.rename(&b, &c).await.unwrap();
    assert_eq!(keys(store, "y").await, ["y/c"]);
    assert_eq!(read(store, "y/c").await, "content");
    let missing = store.copy(&Path::from("none"), &b).await;
    assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
    match store.copy_opts(&a, &c, CopyOptions::new().with_mode(CopyMode::Create)).await {
        // S3 itself has no copy that creates.
        Err(Error::AlreadyExists { .. } | Error::NotSupported { .. } | Error::NotImplemented { .. }) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(read(store, "y/c").await, "content");
    clear(store).await;
}

async fn delete(store: &dyn ObjectStore) {
    put(store, "d/1", b"x", PutMode::Overwrite).await.unwrap();
    put(store, "d/2", b"x", PutMode::Overwrite).await.unwrap();
    store.delete(&Path::from("d/1")).await.unwrap();
    assert_eq!(keys(store, "d").await, ["d/2"]);
    store.delete(&Path::from("d/1")).await.expect("what is not there is as good as deleted");
    let both = ["d/none", "d/2"].map(|key| Ok(Path::from(key)));
    let deleted: Vec<Path> = store.delete_stream(futures::stream::iter(both).boxed()).try_collect().await.unwrap();
    assert_eq!(deleted, [Path::from("d/none"), Path::from("d/2")], "in the order asked for");
    assert_eq!(keys(store, "").await, Vec::<String>::new());
}
