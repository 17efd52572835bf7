//! Versions.

use crate::objects::{body, get, put};
use crate::server::Server;
use stoa_objects::Error;
use stoa_objects::s3::{Condition, CopyHeaders, Read, Source, Storage, VersionKind, VersionMark, VersionPage};

pub(crate) async fn versions_are_kept_listed_and_deleted(server: &Server) {
    let bucket = &server.bucket;
    assert!(server.can.versions);
    let key = "versions/a ü+";
    let first = put(bucket, key, b"one").await.version.unwrap();
    let second = put(bucket, key, b"second").await.version.unwrap();
    put(bucket, "versions/b", b"x").await;
    bucket.delete(key, None, None).await.unwrap();
    assert!(bucket.head(key, None).await.unwrap_err().is_not_found());

    let page = bucket.list_versions("versions/", None, None, None).await.unwrap();
    let of_key: Vec<_> = page.versions.iter().filter(|version| version.key == key).collect();
    assert_eq!(of_key.len(), 3, "{page:?}");
    let marker = of_key.iter().find(|version| version.kind == VersionKind::DeleteMarker).unwrap();
    assert!(marker.latest && marker.modified.is_some());
    for (id, size) in [(&first, 3), (&second, 6)] {
        let version = of_key.iter().find(|version| version.id == **id).unwrap();
        assert!(!version.latest);
        assert!(matches!(version.kind, VersionKind::Object { size: found, .. } if found == size), "{version:?}");
        assert_eq!(bucket.head(key, Some(id)).await.unwrap().size, size);
    }
    assert!(bucket.head(key, Some(&marker.id)).await.unwrap_err().is_not_found());
    let read = Read { version: Some(first.clone()), ..Read::default() };
    assert_eq!(body(bucket.get(key, &read).await.unwrap()).await, b"one");
    pages(server, &page).await;

    // Restored by a copy of the version, and then by taking the marker away.
    let source = Source { key: key.to_owned(), version: Some(first.clone()), ..Source::default() };
    let keep = CopyHeaders::Keep(Storage::default());
    let copied = bucket.copy(&source, "versions/restored", &keep, &Condition::None).await.unwrap();
    assert!(copied.version.is_some());
    assert_eq!(get(bucket, "versions/restored").await, b"one");
    bucket.delete(key, None, Some(&marker.id)).await.unwrap();
    assert_eq!(get(bucket, key).await, b"second");
    bucket.delete(key, None, Some(&second)).await.unwrap();
    assert_eq!(get(bucket, key).await, b"one");
    bucket.delete(key, None, Some(&first)).await.unwrap();
    let left = bucket.list_versions(key, None, None, None).await.unwrap();
    assert_eq!(left, VersionPage::default());
}

/// Small pages make up the whole.
async fn pages(server: &Server, whole: &VersionPage) {
    if !server.can.version_pages {
        let first = server.bucket.list_versions("versions/", None, None, Some(1)).await.unwrap();
        let again = server.bucket.list_versions("versions/", None, first.next.as_ref(), Some(1)).await.unwrap_err();
        assert!(matches!(again, Error::Corrupt { .. }), "{again}");
        return;
    }
    let mut after: Option<VersionMark> = None;
    let mut versions = Vec::new();
    for _ in 0..20 {
        let page = server.bucket.list_versions("versions/", None, after.as_ref(), Some(1)).await.unwrap();
        versions.extend(page.versions);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let ids = |versions: &[stoa_objects::s3::Version]| {
        let mut ids: Vec<_> = versions.iter().map(|version| (version.key.clone(), version.id.clone())).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&versions), ids(&whole.versions));
}
