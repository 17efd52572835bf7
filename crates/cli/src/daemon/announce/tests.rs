use super::*;

fn announcement() -> Announcement {
    let record = Record {
        mountpoint: "/mnt/my files".into(),
        store: "s3://bucket/volume".into(),
        endpoint: None,
        pid: 42,
        pid_started: 1,
        uid: 1000,
        started: "2026-11-21T02:00:00Z".into(),
        read_only: true,
        log: Some("/var/log/stoa/mnt.log".into()),
        metrics: None,
    };
    Announcement { record, created: true, empty: false, allow_other: false }
}

#[test]
fn it_says_what_is_where_and_what_to_do_next() {
    let expected = "\
made a volume in s3://bucket/volume
mounted s3://bucket/volume on /mnt/my files (pid 42, read-only)
  look at it  stoa status '/mnt/my files'
  unmount it  stoa umount '/mnt/my files'
  its log     /var/log/stoa/mnt.log
  only you can see what is in it; -o allow_other lets other users in";
    assert_eq!(announcement().text("stoa"), expected);
}

#[test]
fn a_place_without_objects_is_told() {
    let empty = Announcement { created: false, empty: true, ..announcement() };
    let text = empty.text("stoa");
    assert!(text.starts_with("mounted ") && text.contains("there is no object in it yet"), "{text}");
    assert!(!announcement().text("stoa").contains("no object"));
}

#[test]
fn its_json_is_flat_and_survives_the_pipe() {
    let value = serde_json::to_value(announcement()).unwrap();
    assert_eq!(value["mountpoint"], "/mnt/my files");
    assert_eq!(value["created"], true);
    assert_eq!(serde_json::from_value::<Announcement>(value).unwrap(), announcement());
}

#[test]
fn words_for_a_shell_are_quoted_when_they_need_it() {
    assert_eq!(quoted("/mnt/a-b_c.d"), "/mnt/a-b_c.d");
    assert_eq!(quoted("it's $HOME"), "'it'\\''s $HOME'");
    assert_eq!(quoted(""), "''");
}
