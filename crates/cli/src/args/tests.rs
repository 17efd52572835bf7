use super::*;
use clap::CommandFactory;

#[test]
fn the_table_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn every_flag_and_command_says_what_it_does() {
    let mut stoa = Cli::command();
    stoa.build();
    for command in stoa.get_subcommands() {
        assert!(command.get_about().is_some(), "{}", command.get_name());
        for arg in command.get_arguments().filter(|arg| arg.get_id() != "help") {
            assert!(arg.get_help().is_some(), "{} {}", command.get_name(), arg.get_id());
        }
    }
}

#[test]
fn every_command_that_reports_has_json() {
    let stoa = Cli::command();
    for name in ["format", "mount", "umount", "status", "stats", "profile", "warmup", "bench", "info", "fsck", "gc"] {
        let command = stoa.find_subcommand(name).unwrap();
        assert!(command.get_arguments().any(|arg| arg.get_long() == Some("json")), "{name}");
    }
}

#[test]
fn every_command_that_connects_has_the_same_access_flags() {
    let stoa = Cli::command();
    for name in ["format", "mount", "bench", "fsck", "gc"] {
        let command = stoa.find_subcommand(name).unwrap();
        for flag in ["endpoint", "region", "path-style", "ca-file", "profile", "anonymous", "no-checksum"] {
            let found = command.get_arguments().find(|arg| arg.get_long() == Some(flag));
            let variable = format!("STOA_{}", flag.replace('-', "_").to_uppercase());
            assert_eq!(found.and_then(|arg| arg.get_env()), Some(variable.as_ref()), "{name} --{flag}");
        }
    }
}
