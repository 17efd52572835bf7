use super::client::{endpoint, is_loopback};
use crate::{ConnectOptions, Error, Location, connect};
use object_store::ObjectStoreExt;
use object_store::path::Path;
use std::path::PathBuf;

#[tokio::test]
async fn memory_and_directories_connect() {
    let root = tempfile::tempdir().unwrap();
    for location in [Location::Memory, Location::Directory(root.path().join("new"))] {
        let connected = connect(&location, &ConnectOptions::default()).await.unwrap();
        crate::probe(connected.store.as_ref()).await.unwrap();
        connected.store.put(&Path::from("k"), "x".into()).await.unwrap();
        connected.check(std::time::Duration::from_secs(1)).await.unwrap();
        assert!(connected.meter.counts().total() > 5);
    }
    assert!(root.path().join("new/k").exists());
}

#[test]
fn endpoints_are_checked_and_secrets_in_them_not_repeated() {
    assert_eq!(endpoint("http://localhost:9000/").unwrap(), "http://localhost:9000");
    for bad in ["localhost:9000", "ftp://x", "https://me:s3cret@host", "https://host/?s3cret=s3cret"] {
        let error = endpoint(bad).unwrap_err();
        assert!(matches!(error, Error::BadOption(_)) && !error.to_string().contains("s3cret"), "{error}");
    }
}

#[test]
fn loopback_is_told_from_the_network() {
    for near in ["http://localhost:9000", "http://127.0.0.1:9000", "http://127.8.0.1", "http://[::1]:9000"] {
        assert!(is_loopback(near), "{near}");
    }
    for far in ["http://localhost.example.com", "http://10.0.0.1:9000", "http://minio:9000", "http://[::2]", "?"] {
        assert!(!is_loopback(far), "{far}");
    }
}

#[tokio::test]
async fn a_bad_ca_file_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for path in [PathBuf::from("/nowhere/ca.pem"), file.path().to_owned()] {
        let options = ConnectOptions { ca_file: Some(path.clone()), anonymous: true, ..ConnectOptions::default() };
        let error = connect(&Location::parse("s3://bucket").unwrap(), &options).await.unwrap_err();
        assert!(matches!(&error, Error::BadOption(text) if text.contains(path.to_str().unwrap())), "{error}");
    }
}
