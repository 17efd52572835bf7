use super::*;
use std::process::Command;

#[test]
fn a_program_name_full_of_parentheses_does_not_shift_the_fields() {
    let stat = "7 (a) b (c 1 2) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000 50";
    assert_eq!(start_time(stat), Some(98765));
    assert!(!is_zombie(stat));
    assert!(is_zombie(&stat.replace(" S ", " Z ")));
    assert_eq!(start_time("7 (cut"), None);
    assert_eq!(start_time("7 (cut) S 1"), None);
}

#[test]
fn a_process_that_is_not_there_has_no_start() {
    let mut child = Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    assert_eq!(started(pid), None);
}

#[test]
fn a_process_that_has_ended_is_gone_before_its_parent_noticed() {
    let mut child = Command::new("true").spawn().unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while started(child.id()).is_some() {
        assert!(std::time::Instant::now() < deadline);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(std::path::Path::new(&format!("/proc/{}", child.id())).exists());
    assert!(is_gone(child.id(), start_time(&stat(child.id()).unwrap()).unwrap()));
    child.wait().unwrap();
}

#[test]
fn a_later_process_started_later() {
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let later = started(child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(later >= started(std::process::id()));
    assert!(later.is_some());
}

#[test]
fn another_start_is_another_process() {
    let this = std::process::id();
    let start = started(this).unwrap();
    assert!(!is_gone(this, start) && is_gone(this, start + 1));
    // No machine has so many; and 0 is every process of a group.
    assert!(is_gone(1_000_000_000, start) && !is_gone(0, start));
}

#[test]
fn a_process_that_may_be_hidden_exists() {
    assert!(exists(1));
    assert!(exists(std::process::id()));
    assert!(exists(0));
    assert!(!exists(1_000_000_000));
}

#[test]
fn a_zombie_is_gone() {
    assert!(is_zombie("7 (a) b) Z 1 2 3"));
    assert!(!is_zombie("7 (Z) S 1 2 3"));
}
