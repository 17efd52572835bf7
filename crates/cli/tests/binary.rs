//! The binary from outside: what it prints, and how it ends. Mounting for real is tested in the workspace's `tests/`.

#![allow(clippy::unwrap_used, reason = "a test ends where it is surprised")]

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

/// `stoa` in an environment of its own: no credentials, no configuration, nobody else's mounts.
fn stoa(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stoa"));
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("STOA_RUNTIME_DIR", home.join("run"))
        // Otherwise the credential chain would look for a machine's role over the network.
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .current_dir(home);
    command
}

fn run(home: &Path, args: &[&str]) -> Output {
    stoa(home).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Asserts that `args` fail with `code`, print nothing to stdout and `what` to stderr; returns all of that.
fn fails(home: &Path, args: &[&str], code: i32, what: &str) -> String {
    let output = run(home, args);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
    assert!(stderr.contains(what), "{args:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{args:?}: {}", text(&output.stdout));
    assert!(!stderr.contains("panicked"), "{stderr}");
    stderr
}

#[test]
fn help_teaches() {
    let home = tempfile::tempdir().unwrap();
    let output = run(home.path(), &["--help"]);
    assert!(output.status.success());
    let help = text(&output.stdout);
    for part in [
        "Examples:",
        "stoa mount --create ./store ./files",
        "/etc/fstab",
        "Exit codes:",
        "s3://BUCKET/PREFIX",
        "umount",
    ] {
        assert!(help.contains(part), "{part} is missing in:\n{help}");
    }
    let help = text(&run(home.path(), &["mount", "--help"]).stdout);
    for part in ["--create", "--take-over", "--memory", "--endpoint", "STOA_ENDPOINT", "credentials come from"] {
        assert!(help.contains(part), "{part} is missing in:\n{help}");
    }
}

#[test]
fn a_wrong_command_line_is_a_usage_failure() {
    let home = tempfile::tempdir().unwrap();
    fails(home.path(), &["mnt"], 2, "unrecognized subcommand");
    fails(home.path(), &["mount", "--memory", "lots", "/s", "/d"], 2, "'lots' is no size");
    fails(home.path(), &["mount", "-o", "bogus", "/s", "/d"], 2, "unknown mount option 'bogus'");
    fails(home.path(), &["mount", "-o", "sync", "/s", "/d"], 2, "sync is not supported");
}

#[test]
fn bad_urls_are_named_and_secrets_are_not_repeated() {
    let home = tempfile::tempdir().unwrap();
    for command in ["format", "fsck", "gc", "status"] {
        let code = if command == "fsck" { 8 } else { 2 };
        fails(home.path(), &[command, "ftp://host/x"], code, "unknown scheme 'ftp'");
        let stderr =
            fails(home.path(), &[command, "s3://key:hunter2@bucket/x"], code, "credentials don't belong in a URL");
        assert!(!stderr.contains("hunter2"), "{stderr}");
    }
    let stderr =
        fails(home.path(), &["mount", "-o", "aws_secret_access_key=hunter2", "/s", "/d"], 2, "aws_secret_access_key");
    assert!(!stderr.contains("hunter2"), "{stderr}");
}

#[test]
fn what_is_not_a_volume_is_said_with_how_to_make_one() {
    let home = tempfile::tempdir().unwrap();
    for dir in ["store", "files"] {
        std::fs::create_dir(home.path().join(dir)).unwrap();
    }
    for mode in ["--foreground", "--log=mount.log"] {
        let stderr = fails(home.path(), &["mount", mode, "store", "files"], 1, "there is no Stoa volume at ");
        assert!(stderr.contains("`stoa format` makes one; `stoa mount --create` makes and mounts one"), "{stderr}");
    }
    let stderr = fails(home.path(), &["fsck", "store"], 8, "there is no Stoa volume at ");
    assert!(stderr.contains("stoa format"), "{stderr}");
    fails(home.path(), &["gc", "store"], 1, "there is no Stoa volume at ");
    // The process in the background wrote the reason into its log as well, which is nobody else's to read.
    use std::os::unix::fs::PermissionsExt;
    let log = home.path().join("mount.log");
    assert!(std::fs::read_to_string(&log).unwrap().contains("there is no Stoa volume at "));
    assert_eq!(log.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    // And it left neither a record nor a socket.
    let left = std::fs::read_dir(home.path().join("run")).map_or(0, Iterator::count);
    assert_eq!(left, 0);
}

#[test]
fn missing_directories_are_named() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("files")).unwrap();
    let stderr = fails(home.path(), &["mount", "store", "files"], 1, "there is no directory ");
    assert!(stderr.contains("stoa format"), "{stderr}");
    let stderr = fails(home.path(), &["mount", "store", "gone"], 1, "gone: No such file or directory");
    assert!(stderr.contains("--create"), "{stderr}");
    fails(home.path(), &["umount", "files"], 1, "is not a Stoa mount");
    fails(home.path(), &["info", "files"], 1, "is not in a Stoa mount");
    fails(home.path(), &["status", "files"], 1, "is not mounted on this host");
}

#[test]
fn without_credentials_the_places_to_give_them_are_named() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("files")).unwrap();
    for args in [&["format", "s3://bucket/v"][..], &["mount", "--log=m.log", "s3://bucket/v", "files"]] {
        let stderr = fails(home.path(), args, 1, "no credentials for s3://bucket/v");
        assert!(stderr.contains("AWS_PROFILE") && stderr.contains("--anonymous"), "{stderr}");
    }
}

#[test]
fn an_endpoint_that_nobody_answers_is_named() {
    let home = tempfile::tempdir().unwrap();
    // A port that was free a moment ago, and that nobody listens at.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let endpoint = format!("http://127.0.0.1:{port}");
    let output = stoa(home.path())
        .args(["format", "s3://bucket/v", "--endpoint", &endpoint, "--region", "eu"])
        .env("AWS_ACCESS_KEY_ID", "id")
        .env("AWS_SECRET_ACCESS_KEY", "hunter2")
        .output()
        .unwrap();
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains(&endpoint) && stderr.contains("check --endpoint"), "{stderr}");
    assert!(!stderr.contains("hunter2"), "{stderr}");
}

#[test]
fn mount_helpers_are_chosen_by_name_and_fail_as_mount_expects() {
    let home = tempfile::tempdir().unwrap();
    for dir in ["store", "files"] {
        std::fs::create_dir(home.path().join(dir)).unwrap();
    }
    let helper = |name: &str, args: &[&str]| stoa(home.path()).arg0(name).args(args).output().unwrap();
    let failed =
        helper("/sbin/mount.stoa", &["store", "files", "-n", "-o", "rw,_netdev,x-systemd.automount,log=m.log"]);
    assert_eq!(failed.status.code(), Some(32), "{}", text(&failed.stderr));
    assert!(text(&failed.stderr).contains("there is no Stoa volume at "));
    let fake = helper("mount.fuse.stoa", &["store", "files", "-f", "-s", "-o", "ro,unheard_of,log=m.log"]);
    assert!(fake.status.success(), "{}", text(&fake.stderr));
    let failed = helper("umount.stoa", &["files", "-n"]);
    assert_eq!(failed.status.code(), Some(32), "{}", text(&failed.stderr));
    assert!(text(&failed.stderr).contains("is not a Stoa mount"));
}

#[test]
fn nothing_mounted_is_an_empty_list() {
    let home = tempfile::tempdir().unwrap();
    let output = run(home.path(), &["status", "--json"]);
    assert!(output.status.success());
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    // Other mounts of this machine may be listed, as ones that are not ours to ask.
    assert!(list.as_array().unwrap().iter().all(|mount| mount["state"] == "unknown"), "{list}");
}

#[test]
fn completions_and_manual_come_from_the_flag_table() {
    let home = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let output = run(home.path(), &["completions", shell]);
        let script = text(&output.stdout);
        assert!(output.status.success() && script.contains("take-over"), "{shell}: {script}");
    }
    let page = text(&run(home.path(), &["man"]).stdout);
    assert!(page.contains(".TH stoa 1") && page.contains("stoa mount"), "{page}");
    assert!(run(home.path(), &["man", "pages"]).status.success());
    for (name, part) in [("stoa.1", "fsck"), ("stoa-mount.1", "take\\-over"), ("mount.stoa.8", "stoa-mount.1")] {
        let page = std::fs::read_to_string(home.path().join("pages").join(name)).unwrap();
        assert!(page.contains(part), "{name}: {page}");
    }
}

#[test]
fn a_volume_is_made_checked_and_not_made_twice() {
    let home = tempfile::tempdir().unwrap();
    let output = run(home.path(), &["format", "--json", "store"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let made: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(made["store"].as_str().unwrap().ends_with("/store"), "{made}");
    assert_eq!(made["volume"]["format_version"], 2);
    fails(home.path(), &["format", "store"], 1, "it was not touched");
    let output = run(home.path(), &["fsck", "--data", "--json", "store"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["problems"], serde_json::json!([]));
    let output = run(home.path(), &["gc", "store"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("looked at "), "{}", text(&output.stdout));
}

#[test]
fn a_directory_with_other_things_is_not_made_a_volume() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("store")).unwrap();
    std::fs::write(home.path().join("store/thesis.tex"), "years of work").unwrap();
    fails(home.path(), &["format", "store"], 1, "is not empty and holds no Stoa volume");
    assert_eq!(std::fs::read_to_string(home.path().join("store/thesis.tex")).unwrap(), "years of work");
}

#[test]
fn a_result_that_can_t_be_written_is_a_failure_unless_its_reader_has_gone() {
    let home = tempfile::tempdir().unwrap();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = stoa(home.path()).args(["status", "--json"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("can't be written"), "{}", text(&output.stderr));
    let (reader, gone) = std::io::pipe().unwrap();
    drop(reader);
    let output = stoa(home.path()).args(["status", "--json"]).stdout(gone).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}
