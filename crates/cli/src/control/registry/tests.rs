use super::*;
use std::os::unix::fs::PermissionsExt;

fn record(pid: u32, pid_started: u64) -> Record {
    Record {
        mountpoint: "/mnt/files".into(),
        store: "s3://bucket/volume".into(),
        endpoint: None,
        pid,
        pid_started,
        uid: uid(),
        started: "2026-11-21T02:00:00Z".into(),
        read_only: false,
        log: None,
        metrics: None,
    }
}

fn this_process() -> Record {
    let pid = std::process::id();
    record(pid, stoa_process::started(pid).unwrap())
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = entries(dir).map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_claim_is_listed_while_it_lives_and_readable_by_its_user_alone() {
    let home = tempfile::tempdir().unwrap();
    let registry = Registry::at(&home.path().join("stoa"));
    assert!(registry.list().is_empty());
    let claim = registry.claim(&this_process()).unwrap();
    let listed = registry.list();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0], (this_process(), claim.socket().to_owned()));
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&registry.dir), 0o700);
    assert_eq!(mode(&claim.record), 0o600);
    fs::write(claim.socket(), "").unwrap();
    drop(claim);
    assert!(names(&registry.dir).is_empty());
}

#[test]
fn what_a_user_writes_down_as_another_s_mount_counts_for_nothing() {
    let home = tempfile::tempdir().unwrap();
    let registry = Registry::at(&home.path().join("stoa"));
    let _claim = registry.claim(&Record { uid: uid() + 1, ..this_process() }).unwrap();
    assert!(registry.list().is_empty());
}

#[test]
fn records_and_sockets_of_dead_processes_are_cleaned_up() {
    let home = tempfile::tempdir().unwrap();
    let registry = Registry::at(&home.path().join("stoa"));
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let dead = child.id();
    child.wait().unwrap();
    let kept = registry.claim(&this_process()).unwrap();
    std::mem::forget(registry.claim(&record(dead, 1)).unwrap());
    fs::write(registry.path(dead, "sock"), "").unwrap();
    assert_eq!(registry.list().len(), 1);
    assert_eq!(names(&registry.dir), [format!("{}.json", std::process::id())]);
    drop(kept);
}

#[test]
fn a_pid_used_again_by_another_process_is_stale() {
    let home = tempfile::tempdir().unwrap();
    let registry = Registry::at(&home.path().join("stoa"));
    let mut reused = this_process();
    reused.pid_started -= 1;
    std::mem::forget(registry.claim(&reused).unwrap());
    assert!(registry.list().is_empty());
    assert!(names(&registry.dir).is_empty());
}

#[test]
fn an_unreadable_record_is_kept_while_its_process_lives() {
    let home = tempfile::tempdir().unwrap();
    let registry = Registry::at(&home.path().join("stoa"));
    registry.prepare().unwrap();
    fs::write(registry.path(std::process::id(), "json"), "{\"mount").unwrap();
    assert!(registry.list().is_empty());
    assert_eq!(names(&registry.dir).len(), 1);
}

#[test]
fn a_directory_that_others_may_enter_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("stoa");
    fs::create_dir(&dir).unwrap();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
    let error = Registry::at(&dir).claim(&this_process()).unwrap_err();
    assert!(error.what().contains("not this user's alone"), "{error:?}");
    assert!(error.advice().unwrap().contains(DIR_VARIABLE));
    let link = home.path().join("link");
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o700)).unwrap();
    std::os::unix::fs::symlink(&dir, &link).unwrap();
    assert!(Registry::at(&link).claim(&this_process()).is_err());
}
