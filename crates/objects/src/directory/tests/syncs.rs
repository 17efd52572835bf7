//! Syncs of directories that fail: what was not made durable is never answered for, however often it is asked for again.

use crate::Directory;
use futures::{StreamExt, stream};
use object_store::path::Path;
use object_store::{
    Error, ObjectStore, ObjectStoreExt, PutMode, RenameOptions, RenameTargetMode, Result, UpdateVersion,
};
use std::sync::atomic::Ordering;
use tempfile::TempDir;

fn store() -> (TempDir, Directory) {
    let root = tempfile::tempdir().unwrap();
    let store = Directory::open(root.path()).unwrap();
    (root, store)
}

/// Lets so many syncs fail from now on.
fn fail(store: &Directory, syncs: usize) {
    store.layout.syncs_failing.store(syncs, Ordering::Relaxed);
}

fn assert_not_durable<T: std::fmt::Debug>(answer: Result<T>) {
    assert!(matches!(&answer, Err(Error::Generic { .. })), "{answer:?}");
}

#[tokio::test]
async fn a_create_that_was_not_synced_is_synced_before_it_counts_as_there() {
    let (_root, store) = store();
    let key = Path::from("a/b");
    let create = || store.put_opts(&key, "x".into(), PutMode::Create.into());
    fail(&store, 2);
    assert_not_durable(create().await);
    assert_not_durable(create().await);
    assert!(matches!(create().await, Err(Error::AlreadyExists { .. })));
}

#[tokio::test]
async fn an_update_that_was_not_synced_is_synced_before_its_tag_counts_as_another() {
    let (_root, store) = store();
    let key = Path::from("a/b");
    let first = store.put(&key, "x".into()).await.unwrap();
    let version = UpdateVersion { e_tag: first.e_tag, version: None };
    let update = || store.put_opts(&key, "y".into(), PutMode::Update(version.clone()).into());
    fail(&store, 2);
    assert_not_durable(update().await);
    assert_not_durable(update().await);
    assert!(matches!(update().await, Err(Error::Precondition { .. })));
}

#[tokio::test]
async fn a_delete_that_was_not_synced_is_synced_before_the_object_counts_as_gone() {
    let (root, store) = store();
    let key = Path::from("a/b");
    store.put(&key, "x".into()).await.unwrap();
    fail(&store, 2);
    assert_not_durable(store.delete(&key).await);
    assert_not_durable(store.delete(&key).await);
    store.delete(&key).await.unwrap();
    // Where the directory has gone with the object, that is to be durable, too.
    assert!(!root.path().join("a").exists());
    fail(&store, 1);
    assert_not_durable(store.delete(&key).await);
}

#[tokio::test]
async fn a_bulk_delete_that_was_not_synced_is_repeated_from_its_first_key_on() {
    let (_root, store) = store();
    let keys = ["a/b", "c/d"].map(Path::from);
    for key in &keys {
        store.put(key, "x".into()).await.unwrap();
    }
    fail(&store, 1);
    let answers: Vec<_> = store.delete_stream(stream::iter(keys.map(Ok)).boxed()).collect().await;
    assert!(answers[0].is_err(), "{answers:?}");
}

#[tokio::test]
async fn a_root_whose_name_was_not_synced_is_made_anew() {
    let parent = tempfile::tempdir().unwrap();
    let store = Directory::open(parent.path().join("new")).unwrap();
    fail(&store, 1);
    assert_not_durable(store.put(&Path::from("k"), "x".into()).await);
    assert!(!parent.path().join("new").exists());
    store.put(&Path::from("k"), "x".into()).await.unwrap();
}

#[tokio::test]
async fn an_upload_that_was_not_synced_is_synced_before_it_is_complete() {
    let (_root, store) = store();
    let key = Path::from("a/b");
    let mut upload = store.put_multipart(&key).await.unwrap();
    upload.put_part("x".into()).await.unwrap();
    fail(&store, 2);
    assert_not_durable(upload.complete().await);
    assert_not_durable(upload.complete().await);
    let done = upload.complete().await.unwrap();
    assert_eq!(done.e_tag, store.head(&key).await.unwrap().e_tag);
}

#[tokio::test]
async fn a_rename_that_was_not_synced_is_synced_before_its_source_counts_as_gone() {
    let (_root, store) = store();
    let (from, to) = (Path::from("a/b"), Path::from("c/d"));
    store.put(&from, "x".into()).await.unwrap();
    fail(&store, 2);
    assert_not_durable(store.rename(&from, &to).await);
    assert_not_durable(store.rename(&from, &to).await);
    assert!(matches!(store.rename(&from, &to).await, Err(Error::NotFound { .. })));

    let create = || RenameOptions { target_mode: RenameTargetMode::Create, ..RenameOptions::default() };
    store.put(&from, "x".into()).await.unwrap();
    store.delete(&to).await.unwrap();
    fail(&store, 2);
    assert_not_durable(store.rename_opts(&from, &to, create()).await);
    assert_not_durable(store.rename_opts(&from, &to, create()).await);
    assert!(matches!(store.rename_opts(&from, &to, create()).await, Err(Error::AlreadyExists { .. })));
}
