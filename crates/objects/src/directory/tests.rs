mod syncs;

use super::Directory;
use super::layout::TEMPORARY;
use crate::{Error, probe};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{Attribute, Attributes, ObjectStore, ObjectStoreExt, PutMode, PutOptions, UpdateVersion};
use std::fs::{self, File};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

fn temporary_files(root: &std::path::Path) -> usize {
    fs::read_dir(root.join(TEMPORARY)).unwrap().filter(|entry| entry.as_ref().unwrap().file_name() != "lock").count()
}

#[tokio::test]
async fn objects_are_plain_files_and_nothing_else_is_left() {
    let root = tempfile::tempdir().unwrap();
    let store = Directory::open(root.path()).unwrap();
    store.put(&Path::from("a/b c"), "content".into()).await.unwrap();
    assert_eq!(fs::read(root.path().join("a/b c")).unwrap(), b"content");
    let taken = store.put_opts(&Path::from("a/b c"), "x".into(), PutMode::Create.into()).await;
    assert!(taken.is_err());
    let mut upload = store.put_multipart(&Path::from("dropped")).await.unwrap();
    upload.put_part("x".into()).await.unwrap();
    assert_eq!(temporary_files(root.path()), 1);
    drop(upload);
    assert_eq!(temporary_files(root.path()), 0);
    probe(&store).await.unwrap();
    let names: Vec<_> = fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}: the object's directory and that of temporary files");
}

#[tokio::test]
async fn temporary_files_are_no_objects_and_stale_ones_go() {
    let root = tempfile::tempdir().unwrap();
    let store = Directory::open(root.path()).unwrap();
    store.put(&Path::from("k"), "x".into()).await.unwrap();
    let (old, new) = (root.path().join(TEMPORARY).join("old"), root.path().join(TEMPORARY).join("new"));
    for path in [&old, &new] {
        fs::write(path, "left behind").unwrap();
    }
    File::options()
        .write(true)
        .open(&old)
        .unwrap()
        .set_modified(SystemTime::now() - Duration::from_secs(90_000))
        .unwrap();
    assert_eq!(store.list(None).count().await, 1);
    assert_eq!(store.list_with_delimiter(None).await.unwrap().common_prefixes, []);
    let hidden = Path::from(format!("{TEMPORARY}/new"));
    assert!(store.get(&hidden).await.is_err());
    assert!(store.put(&hidden, "x".into()).await.is_err());
    Directory::open(root.path()).unwrap();
    assert!(!old.exists() && new.exists());
}

#[tokio::test]
async fn a_key_under_an_object_is_refused_for_good() {
    let root = tempfile::tempdir().unwrap();
    let store = Directory::open(root.path()).unwrap();
    store.put(&Path::from("a"), "x".into()).await.unwrap();
    store.put(&Path::from("d/x"), "x".into()).await.unwrap();
    for key in ["a/b", "d"] {
        let error = store.put(&Path::from(key), "x".into()).await.unwrap_err();
        let error = Error::from_store("put", &error);
        assert!(matches!(error, Error::Rejected { .. }), "{key}: {error:?}");
    }
    let long = Path::from("n".repeat(256));
    let error = Error::from_store("put", &store.put(&long, "x".into()).await.unwrap_err());
    assert!(matches!(error, Error::Rejected { .. }), "{error:?}");
}

#[tokio::test]
async fn attributes_are_refused_not_dropped() {
    let root = tempfile::tempdir().unwrap();
    let store = Directory::open(root.path()).unwrap();
    let attributes = Attributes::from_iter([(Attribute::ContentType, "text/plain")]);
    let options = PutOptions { attributes, ..PutOptions::default() };
    let answer = store.put_opts(&Path::from("k"), "x".into(), options).await;
    assert!(matches!(answer, Err(object_store::Error::NotImplemented { .. })), "{answer:?}");
}

#[tokio::test]
async fn links_and_special_files_are_not_objects() {
    let root = tempfile::tempdir().unwrap();
    let store = Directory::open(root.path()).unwrap();
    store.put(&Path::from("k"), "x".into()).await.unwrap();
    std::os::unix::fs::symlink("k", root.path().join("link")).unwrap();
    fs::create_dir(root.path().join("empty")).unwrap();
    let keys: Vec<_> = store.list(None).map_ok(|meta| meta.location.to_string()).try_collect().await.unwrap();
    assert_eq!(keys, ["k"]);
}

#[tokio::test]
async fn the_root_is_made_but_not_the_way_to_it() {
    let root = tempfile::tempdir().unwrap();
    let store = Directory::open(root.path().join("new")).unwrap();
    assert_eq!(store.list(None).count().await, 0);
    assert!(!root.path().join("new").exists(), "looking makes nothing");
    store.put(&Path::from("k"), "x".into()).await.unwrap();
    let error = Directory::open(root.path().join("not/there")).unwrap_err();
    assert!(matches!(&error, Error::BadOption(text) if text.contains("no directory")), "{error}");
    let error = Directory::open(root.path().join("new/k")).unwrap_err();
    assert!(matches!(&error, Error::BadOption(text) if text.contains("not a directory")), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn puts_and_deletes_of_one_directory_do_not_lose_each_other() {
    let root = tempfile::tempdir().unwrap();
    // Two stores, as two processes have: they share nothing but the directory.
    let stores = [(); 2].map(|()| Arc::new(Directory::open(root.path()).unwrap()));
    let tasks = (0..8).map(|task| {
        let store = Arc::clone(&stores[task % 2]);
        tokio::spawn(async move {
            for round in 0..100 {
                let key = Path::from(format!("shared/deep/{task}-{round}"));
                store.put(&key, "x".into()).await.unwrap();
                store.get(&key).await.unwrap().bytes().await.unwrap();
                store.delete(&key).await.unwrap();
            }
        })
    });
    futures::future::try_join_all(tasks).await.unwrap();
    assert_eq!(stores[0].list(None).count().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_of_two_processes_are_never_lost() {
    let root = tempfile::tempdir().unwrap();
    let stores = [(); 2].map(|()| Arc::new(Directory::open(root.path()).unwrap()));
    let key = Path::from("counter");
    stores[0].put(&key, "0".into()).await.unwrap();
    let tasks = (0..4).map(|task| {
        let (store, key) = (Arc::clone(&stores[task % 2]), key.clone());
        tokio::spawn(async move {
            let mut done = 0;
            while done < 25 {
                let found = store.get(&key).await.unwrap();
                let version = UpdateVersion { e_tag: found.meta.e_tag.clone(), version: None };
                let count: u64 = String::from_utf8(found.bytes().await.unwrap().to_vec()).unwrap().parse().unwrap();
                let next = (count + 1).to_string();
                match store.put_opts(&key, next.into(), PutMode::Update(version).into()).await {
                    Ok(_) => done += 1,
                    Err(object_store::Error::Precondition { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        })
    });
    futures::future::try_join_all(tasks).await.unwrap();
    assert_eq!(stores[1].get(&key).await.unwrap().bytes().await.unwrap(), "100");
}
