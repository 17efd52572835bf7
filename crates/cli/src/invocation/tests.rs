use super::*;
use crate::args::{LogTarget, Mount};
use std::time::Duration;

fn read_words(line: &str) -> Result<Invoked, Refused> {
    read(line.split(' ').map(OsString::from).collect())
}

fn mount(line: &str) -> Mount {
    match read_words(line).unwrap().cli.command {
        Command::Mount(mount) => *mount,
        other => panic!("{other:?}"),
    }
}

fn text_of(refused: Refused) -> String {
    match refused {
        Refused::Clap(error) => error.to_string(),
        Refused::Failure(failure) => failure.what().to_owned(),
    }
}

#[test]
fn fstab_lines_become_mounts() {
    let line = "/sbin/mount.stoa s3://bucket/volume /mnt -v -o rw,_netdev,x-systemd.automount,memory=2G,endpoint=http://h:9000,\
                path_style,cache_dir=/var/cache/stoa,cache_size=5G,commit_interval=500ms,take_over,create,region=eu,\
                profile=p,ca_file=/ca.pem,anonymous,log=debug,noexec";
    let mount = mount(line);
    assert_eq!((mount.store.as_str(), mount.dir.as_path()), ("s3://bucket/volume", Path::new("/mnt")));
    assert_eq!(mount.memory.memory, Some(2 << 30));
    assert_eq!(mount.access.endpoint.as_deref(), Some("http://h:9000"));
    assert_eq!(mount.access.path_style, Some(true));
    assert!(mount.access.anonymous && mount.take_over && mount.create);
    assert_eq!(mount.cache_dir.as_deref(), Some(Path::new("/var/cache/stoa")));
    assert_eq!(mount.cache_size, 5 << 30);
    assert_eq!(mount.commit_interval, Duration::from_millis(500));
    assert_eq!(mount.access.region.as_deref(), Some("eu"));
    assert_eq!(mount.access.profile.as_deref(), Some("p"));
    assert_eq!(mount.access.ca_file.as_deref(), Some(Path::new("/ca.pem")));
    assert_eq!(mount.log, [LogTarget::Filter("debug".into())]);
    assert_eq!((mount.words.read_only, mount.words.noexec), (Some(false), Some(true)));
    assert!(!mount.foreground && !mount.fake);
}

#[test]
fn the_helpers_keep_to_what_mount_expects() {
    for name in ["mount.stoa", "mount.fuse.stoa"] {
        let invoked = read_words(&format!("{name} /srv/store /mnt -sfn -t fuse.stoa -o bogus,ro")).unwrap();
        assert_eq!(invoked.failure_code, Some(MOUNT_FAILED));
        let Command::Mount(mount) = invoked.cli.command else { panic!("no mount") };
        assert!(mount.fake);
        assert_eq!(mount.words.read_only, Some(true));
    }
    assert_eq!(mount("mount.stoa /s /mnt -r").words.read_only, Some(true));
    // mount(8) puts `rw` before what a line of fstab says.
    assert_eq!(mount("mount.stoa /s /mnt -o rw,read_only").words.read_only, Some(true));
    assert_eq!(mount("stoa mount --read-only -o rw /s /mnt").words.read_only, Some(true));
    assert_eq!(mount("mount.stoa /s /mnt -r -w").words.read_only, Some(false));
    let refused = read_words("mount.stoa /s /mnt -o bogus").unwrap_err();
    assert!(text_of(refused).contains("unknown mount option 'bogus'"));
    let refused = read_words("mount.stoa /s /mnt -N /proc/1/ns/mnt").unwrap_err();
    assert!(text_of(refused).contains("namespace"));
}

#[test]
fn umount_helpers_become_umounts() {
    let invoked = read_words("/sbin/umount.fuse.stoa /mnt -f -l -n -r -v -t fuse.stoa").unwrap();
    assert_eq!(invoked.cli.verbose, 1);
    match invoked.cli.command {
        Command::Umount(umount) => assert!(umount.force && umount.lazy && umount.dir == Path::new("/mnt")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn flags_win_over_options_wherever_they_stand() {
    for line in [
        "stoa mount --memory 1G -o memory=2G /s /d",
        "stoa -v mount -o memory=2G /s /d --memory 1G",
        "stoa mount -o memory=2G,memory=3G --memory=1G -- /s /d",
    ] {
        assert_eq!(mount(line).memory.memory, Some(1 << 30), "{line}");
    }
    assert_eq!(mount("stoa mount -o memory=2G -o memory=3G /s /d").memory.memory, Some(3 << 30));
    assert_eq!(mount("stoa mount mount mount -o memory=2G").memory.memory, Some(2 << 30));
    assert_eq!(mount("stoa mount --read-only /s /d").words.read_only, Some(true));
}

#[test]
fn every_long_flag_of_mount_is_a_word_or_left_out_on_purpose() {
    let stoa = Cli::command();
    let mount = stoa.find_subcommand("mount").unwrap();
    let mut left_out: Vec<_> =
        mount.get_arguments().filter_map(|arg| arg.get_long()).filter(|name| arity(name).is_none()).collect();
    left_out.sort_unstable();
    assert_eq!(left_out, ["foreground", "json", "options"]);
    assert_eq!(arity("memory"), Some(Arity::Value));
    assert_eq!(arity("take-over"), Some(Arity::Switch));
    assert_eq!(arity("path-style"), Some(Arity::Optional));
    assert_eq!(arity("bogus"), None);
}

#[test]
fn no_flag_takes_a_secret() {
    let mut stoa = Cli::command();
    stoa.build();
    let commands = stoa.get_subcommands().chain(std::iter::once(&stoa));
    let flags = commands.flat_map(clap::Command::get_arguments).filter_map(|arg| arg.get_long());
    // The name of a file is none.
    for flag in flags.filter(|flag| !flag.ends_with("-file")) {
        for word in ["secret", "password", "token", "key"] {
            assert!(!flag.contains(word), "--{flag} looks as if it took a secret");
        }
    }
}
