use super::*;
use crate::args::{Cli, Command};
use clap::Parser;

fn parsed(flags: &[&str]) -> args::Uploads {
    match Cli::try_parse_from([&["stoa", "uploads", "s3://b/"], flags].concat()).unwrap().command {
        Command::Uploads(args) => args,
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_what_is_old_is_given_up_unless_an_age_is_said() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let ago = |seconds| now - Duration::from_secs(seconds);
    for (flags, wanted) in [
        (&[][..], None),
        (&["--older-than", "1h"], Some(ago(3600))),
        (&["--abort"], Some(ago(86_400))),
        (&["--abort", "--older-than", "7d"], Some(ago(7 * 86_400))),
        (&["--abort", "--older-than", "0"], None),
    ] {
        assert_eq!(begun_before(&parsed(flags), now), wanted, "{flags:?}");
    }
}

#[test]
fn of_what_nobody_knows_the_age_is_not_old() {
    let upload = |begun: Option<u64>| Upload {
        key: "a".into(),
        id: "1".into(),
        tag: None,
        customer: false,
        summed: false,
        begun: begun.map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)),
    };
    let before = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(100));
    assert!(is_older(&upload(Some(99)), before));
    assert!(!is_older(&upload(Some(100)), before));
    assert!(!is_older(&upload(None), before));
    assert!(is_older(&upload(None), None));
}
