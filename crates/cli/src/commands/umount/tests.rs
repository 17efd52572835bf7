use super::*;

#[test]
fn what_is_not_mounted_is_not_unmounted() {
    let dir = tempfile::tempdir().unwrap();
    let args = |dir: &Path| Umount {
        dir: dir.to_owned(),
        lazy: false,
        force: true,
        report: crate::args::Report { json: false },
    };
    let failure = run(&args(dir.path())).unwrap_err();
    assert!(failure.what().contains("is not a Stoa mount"), "{failure:?}");
    let failure = run(&args(&dir.path().join("gone"))).unwrap_err();
    assert!(failure.what().contains("gone"), "{failure:?}");
}
