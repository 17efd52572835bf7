use super::*;

#[test]
fn an_owner_names_this_process_and_boot() {
    let owner = owner("/mnt/files").unwrap();
    assert_eq!(owner.pid, std::process::id());
    assert_eq!(owner.purpose, "/mnt/files");
    assert_eq!(owner.boot_id.len(), 36, "{}", owner.boot_id);
    assert!(!owner.host.is_empty());
    assert_eq!(
        std::fs::read_link("/proc/self/ns/pid").unwrap().to_str().unwrap(),
        format!("pid:[{}]", owner.pid_namespace)
    );
    assert_eq!(owner.machine_id, std::fs::read_to_string("/etc/machine-id").unwrap_or_default().trim());
    assert_eq!(Some(owner.pid_started), started(owner.pid));
}

#[test]
fn a_program_name_full_of_parentheses_does_not_shift_the_fields() {
    let stat = "7 (a) b (c 1 2) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000 50";
    assert_eq!(start_time(stat), Some(98765));
    assert_eq!(start_time(&stat.replace(" S ", " Z ")), None);
    assert_eq!(start_time("7 (cut"), None);
    assert_eq!(start_time("7 (cut) S 1"), None);
}

#[test]
fn a_process_that_is_not_there_has_no_start() {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    assert_eq!(started(pid), None);
}

#[test]
fn a_process_that_has_ended_is_gone_before_its_parent_noticed() {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while started(child.id()).is_some() {
        assert!(std::time::Instant::now() < deadline);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(std::path::Path::new(&format!("/proc/{}", child.id())).exists());
    child.wait().unwrap();
}

#[test]
fn a_later_process_started_later() {
    let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let later = started(child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(later >= started(std::process::id()));
    assert!(later.is_some());
}
