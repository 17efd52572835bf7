use super::*;
use crate::args::Command;
use crate::invocation;

/// The plan of `stoa mount STORE DIR ARGS...`.
fn plan(store: &Path, dir: &Path, more: &[&str]) -> Outcome<Plan> {
    let mut argv: Vec<_> = ["stoa", "mount", "--foreground"].map(Into::into).into();
    argv.extend([store.into(), dir.into()]);
    argv.extend(more.iter().map(Into::into));
    match invocation::read(argv).unwrap().cli.command {
        Command::Mount(mount) => Plan::new(*mount),
        other => panic!("{other:?}"),
    }
}

#[test]
fn words_become_what_the_door_and_the_volume_are_told() {
    let home = tempfile::tempdir().unwrap();
    let words = "ro,noallow_other,suid,dev,noexec,noatime,take_over,memory=64M,cache_dir=/var/cache/x,cache_size=1G,commit_interval=2s";
    let plan = plan(&home.path().join("a,b"), home.path(), &["-o", words]);
    assert!(plan.unwrap_err().what().contains("lies in"));
    let (store, dir) = (home.path().join("a,b"), home.path().join("dir"));
    let plan = super::tests::plan(&store, &dir, &["--create", "-o", words]).unwrap();
    let mount = plan.mount_options();
    assert!(mount.read_only && mount.suid && mount.dev && mount.noexec && mount.noatime);
    assert_eq!(mount.allow_other, Some(false));
    assert!(mount.source.ends_with("/a_b"), "{}", mount.source);
    let open = plan.open_options().unwrap();
    assert!(open.read_only && open.take_over && open.noatime);
    assert_eq!((open.memory_bytes_max, open.cache_bytes_max), (64 << 20, 1 << 30));
    assert_eq!(open.cache_dir.as_deref(), Some(Path::new("/var/cache/x")));
    assert_eq!(open.commit_interval, std::time::Duration::from_secs(2));
    assert_eq!(open.owner.purpose, plan.mountpoint());
}

#[test]
fn without_words_the_mount_is_writable_and_safe() {
    let home = tempfile::tempdir().unwrap();
    let plan = plan(&home.path().join("store"), &home.path().join("dir"), &["--create"]).unwrap();
    let mount = plan.mount_options();
    assert!(!mount.read_only && !mount.suid && !mount.dev && !mount.noatime);
    assert_eq!(mount.allow_other, Some(control::uid() == 0));
}

#[test]
fn create_makes_directories_and_only_the_owner_may_enter_the_store() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let (store, dir) = (home.path().join("deep/store"), home.path().join("deep/dir"));
    let failure = plan(&store, &dir, &[]).unwrap_err();
    assert!(failure.advice().unwrap().contains("--create"), "{failure:?}");
    assert!(!store.exists());
    plan(&store, &dir, &["--create"]).unwrap();
    assert_eq!(store.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert!(dir.is_dir());
}

#[test]
fn places_inside_each_other_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("dir");
    let inside = dir.join("store");
    std::fs::create_dir_all(&inside).unwrap();
    let link = home.path().join("link");
    std::os::unix::fs::symlink(&inside, &link).unwrap();
    for (store, mounted, more) in [
        (inside.clone(), dir.clone(), vec![]),
        (link, dir.clone(), vec![]),
        (dir.clone(), dir.clone(), vec![]),
        (dir.clone(), inside.clone(), vec![]),
        ("s3://bucket".into(), dir.clone(), vec!["--cache-dir".to_owned(), dir.join("cache").display().to_string()]),
        ("s3://bucket".into(), dir.clone(), vec!["--log".to_owned(), dir.join("x.log").display().to_string()]),
    ] {
        let more: Vec<_> = more.iter().map(String::as_str).collect();
        let failure = plan(&store, &mounted, &more).unwrap_err();
        assert!(failure.what().contains(" lies in the "), "{failure:?}");
    }
}

#[test]
fn what_cannot_be_mounted_on_is_named() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    let failure = plan(Path::new("s3://bucket"), &file, &[]).unwrap_err();
    assert!(failure.what().contains("is not a directory"), "{failure:?}");
    let failure = plan(Path::new("s3://bucket"), home.path(), &["--memory", "1M"]).unwrap_err();
    assert!(failure.what().contains("64M"), "{failure:?}");
}
