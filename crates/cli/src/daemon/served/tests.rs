use super::*;

#[test]
fn long_lists_are_cut_and_the_rest_is_counted() {
    let report = json!({ "extents": vec![0; LISTED_MAX + 7], "size": 1 });
    let cut = limited(&report, "extents").unwrap();
    assert_eq!(cut["extents"].as_array().unwrap().len(), LISTED_MAX);
    assert_eq!(cut["extents_left_out"], 7);
    let short = json!({ "extents": [1], "size": 1 });
    assert_eq!(limited(&short, "extents").unwrap(), short);
}

#[tokio::test]
async fn a_mounted_volume_is_checked_but_not_repaired() {
    let store = tempfile::tempdir().unwrap();
    let location = stoa_objects::Location::parse(store.path().to_str().unwrap()).unwrap();
    let store = stoa_objects::connect(&location, &stoa_objects::ConnectOptions::default()).await.unwrap();
    stoa_volume::format(Arc::clone(&store.store), &stoa_volume::FormatOptions::default()).await.unwrap();
    let options = stoa_volume::OpenOptions::new(stoa_volume::Owner::new("test", "test"));
    let volume = stoa_volume::Volume::open(Arc::clone(&store.store), options).await.unwrap();
    let record = Record {
        mountpoint: "/mnt/files".into(),
        store: String::new(),
        endpoint: None,
        pid: 1,
        pid_started: 1,
        uid: 0,
        started: String::new(),
        read_only: false,
        log: None,
        metrics: None,
    };
    let served = Served::new(Backing::Volume(Arc::clone(&volume), store), record, Instant::now());
    let refused = served.answer(Request::Fsck { data: false, repair: true }, &Steps::new().0).await.unwrap_err();
    assert!(refused.contains("unmount it first (`stoa umount /mnt/files`)"), "{refused}");
    let report = served.answer(Request::Fsck { data: false, repair: false }, &Steps::new().0).await.unwrap();
    assert_eq!(report["problems"], json!([]));
    let counted = served.answer(Request::Metrics, &Steps::new().0).await.unwrap();
    assert_eq!(counted["mountpoint"], "/mnt/files");
    assert!(counted["resident_bytes"].as_u64().unwrap() > 1 << 20, "{counted}");
    assert!(counted["cache"]["memory_bytes_max"].as_u64().unwrap() > 1 << 20, "{counted}");
    volume.close().await.unwrap();
}
