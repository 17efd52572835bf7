//! Listings, page by page.

use crate::objects::put;
use stoa_objects::s3::{List, S3Bucket};

const KEYS: &[&str] = &["list/a", "list/b/1", "list/b/2", "list/b/c/3", "list/d+e f/1", "list/d", "list/z%", "list/ü"];

/// Objects and prefixes of all pages.
async fn whole(bucket: &S3Bucket, mut list: List) -> (Vec<String>, Vec<String>) {
    let (mut keys, mut prefixes) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        let page = bucket.list(&list).await.unwrap();
        assert!(page.objects.len() + page.prefixes.len() <= usize::from(list.keys_max.unwrap_or(1000)));
        for object in &page.objects {
            assert_eq!(object.size, object.key.len() as u64);
            assert!(object.modified.is_some() && object.etag.as_ref().is_some_and(|etag| etag.starts_with('"')));
        }
        keys.extend(page.objects.into_iter().map(|object| object.key));
        prefixes.extend(page.prefixes);
        match page.next {
            Some(next) => list.continuation = Some(next),
            None => return (keys, prefixes),
        }
    }
    panic!("the listing has no end");
}

pub(crate) async fn pages_make_up_the_whole(bucket: &S3Bucket) {
    for key in KEYS {
        put(bucket, key, key.as_bytes()).await;
    }
    let mut sorted = KEYS.to_vec();
    sorted.sort_unstable();
    for keys_max in [None, Some(1), Some(2), Some(3), Some(7)] {
        let list = List { prefix: "list/".to_owned(), keys_max, ..List::default() };
        assert_eq!(whole(bucket, list.clone()).await, (owned(&sorted), vec![]), "{keys_max:?}");
        let delimited = List { delimiter: Some("/".to_owned()), ..list.clone() };
        let want = (owned(&["list/a", "list/d", "list/z%", "list/ü"]), owned(&["list/b/", "list/d+e f/"]));
        assert_eq!(whole(bucket, delimited).await, want, "{keys_max:?}");
        let after = List { start_after: Some("list/b/2".to_owned()), ..list };
        assert_eq!(whole(bucket, after).await.0, sorted[3..], "{keys_max:?}");
    }
    let none = List { prefix: "list/nothing".to_owned(), ..List::default() };
    assert_eq!(whole(bucket, none).await, (vec![], vec![]));
    assert!(bucket.delete_many(&owned(KEYS)).await.unwrap().iter().all(Result::is_ok));
}

fn owned(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}
