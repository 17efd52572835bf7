use super::*;

fn flags(name: &str) -> Option<Arity> {
    match name {
        "memory" | "endpoint" | "log" | "cache-dir" => Some(Arity::Value),
        "take-over" => Some(Arity::Switch),
        "path-style" => Some(Arity::Optional),
        _ => None,
    }
}

fn words(text: &str) -> Words {
    split(&[text.to_owned()], flags, false).unwrap()
}

fn refused(text: &str) -> Failure {
    split(&[text.to_owned()], flags, false).unwrap_err()
}

#[test]
fn every_word_about_the_mount_is_obeyed_both_ways() {
    type Field = fn(&MountWords) -> Option<bool>;
    let table: [(&str, &str, Field); 6] = [
        ("ro", "rw", |words| words.read_only),
        ("allow_other", "noallow_other", |words| words.allow_other),
        ("suid", "nosuid", |words| words.suid),
        ("dev", "nodev", |words| words.dev),
        ("noexec", "exec", |words| words.noexec),
        ("noatime", "relatime", |words| words.noatime),
    ];
    for (on, off, field) in table {
        assert_eq!(field(&words("").mount), None);
        assert_eq!(field(&words(on).mount), Some(true), "{on}");
        assert_eq!(field(&words(off).mount), Some(false), "{off}");
        assert_eq!(field(&words(&format!("{on},{off}")).mount), Some(false), "the last one counts");
        assert!(refused(&format!("{on}=1")).what().contains("takes no value"));
    }
    assert_eq!(words("atime").mount.noatime, Some(false));
}

#[test]
fn words_for_mount_and_systemd_change_nothing() {
    for word in [
        "defaults",
        "auto",
        "noauto",
        "user",
        "user=jo",
        "users",
        "nouser",
        "owner",
        "group",
        "_netdev",
        "nofail",
        "comment=x",
        "uhelper=stoa",
        "helper=stoa",
        "x-systemd.automount",
        "x-gvfs-show",
        "X-mount.mkdir=0755",
        "x-systemd.requires=network-online.target",
        "default_permissions",
        "async",
        "diratime",
        "nostrictatime",
        "lazytime",
        "nolazytime",
        "nomand",
        "noiversion",
        "symfollow",
        "nonempty",
        "loud",
        "silent",
        "subtype=stoa",
        "fsname=x",
    ] {
        assert_eq!(words(word), Words::default(), "{word}");
    }
}

#[test]
fn what_cannot_be_had_is_refused_with_advice() {
    for word in [
        "sync",
        "dirsync",
        "strictatime",
        "norelatime",
        "nosymfollow",
        "mand",
        "iversion",
        "allow_root",
        "remount",
        "bind",
        "rbind",
        "move",
        "context=system_u:object_r:x:s0",
        "fscontext=x",
        "defcontext=x",
        "rootcontext=x",
        "nodiratime",
    ] {
        let failure = refused(word);
        assert_eq!(failure.code(), crate::failure::USAGE);
        assert!(failure.what().contains(word.split('=').next().unwrap()), "{failure:?}");
        assert!(failure.advice().is_some(), "{word}");
    }
    assert_eq!(words("nodiratime,noatime").mount.noatime, Some(true));
}

#[test]
fn long_flags_are_words_too() {
    let words = words("memory=1G,take_over,endpoint=http://127.0.0.1:9000,path-style,cache_dir=/a\\,b\\\\c\\d");
    assert_eq!(
        words.flags,
        ["--memory=1G", "--take-over", "--endpoint=http://127.0.0.1:9000", "--path-style", "--cache-dir=/a,b\\c\\d"]
    );
    assert_eq!(self::words("path_style=no").flags, ["--path-style=no"]);
    assert!(refused("memory").what().contains("needs a value"));
    assert!(refused("take_over=yes").what().contains("takes no value"));
}

#[test]
fn an_unknown_word_is_named_without_its_value() {
    let failure = refused("secret_access_key=hunter2");
    assert!(failure.what().contains("secret_access_key"), "{failure:?}");
    assert!(!format!("{failure:?}").contains("hunter2"));
    let texts = ["ro,bogus=1".to_owned(), "noexec".to_owned()];
    let words = split(&texts, flags, true).unwrap();
    assert_eq!((words.mount.read_only, words.mount.noexec), (Some(true), Some(true)));
    assert!(words.flags.is_empty());
}
