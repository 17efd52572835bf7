use super::*;

#[test]
fn the_last_file_and_the_last_level_count() {
    let targets = ["debug", "/a.log", "stoa_volume=trace", "/b.log"].map(|text| text.parse().unwrap());
    let log = Log::of_mount(&targets, Path::new("/mnt"), false).unwrap();
    assert_eq!(log, Log { filter: "stoa_volume=trace".into(), file: Some("/b.log".into()) });
}

#[test]
fn in_the_foreground_the_log_goes_to_stderr() {
    let log = Log::of_mount(&[LogTarget::Filter("debug".into())], Path::new("/mnt"), true).unwrap();
    assert_eq!(log, Log { filter: format!("warn,{SAID_BY_US},stoa=debug"), file: None });
}

#[test]
fn a_mount_point_makes_a_name_that_fits() {
    assert_eq!(name(Path::new("/mnt/my files")), "mnt-my files.log");
    let long = format!("/{}/end", "ä".repeat(300));
    let name = name(Path::new(&long));
    assert!(name.len() <= NAME_BYTES_MAX + 4 && name.ends_with("-end.log"), "{name}");
}
