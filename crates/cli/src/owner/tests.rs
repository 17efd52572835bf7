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
    assert_eq!(Some(owner.pid_started), stoa_process::started(owner.pid));
}
