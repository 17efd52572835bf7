use super::*;
use proptest::prelude::*;

fn text(path: &[Name]) -> String {
    path.iter().map(ToString::to_string).collect::<Vec<_>>().join("/")
}

fn path(text: &str) -> Vec<Name> {
    text.split('/').map(|name| Name::new(name.to_owned()).unwrap()).collect()
}

#[test]
fn keys_have_the_paths_of_a_mount() {
    let of = |key: &str, beside| text(&path_of_object(key, beside).unwrap());
    assert_eq!(of("photos/cat.jpg", false), "photos/cat.jpg");
    assert_eq!(of("a//b", false), "a/%@-/b");
    assert_eq!(of("a", true), "a%@file");
    assert_eq!(of("a/", false), "a/%@-");
    assert_eq!(text(&path_of_directory("a/..").unwrap()), "a/%@-..");
    assert_eq!(of(&"l".repeat(300), false), format!("{}%@+/{}", "l".repeat(252), "l".repeat(48)));
}

#[test]
fn paths_that_no_key_has_are_none() {
    for none in ["x%@y", "%@-x", "short%@+/rest", "a%@file/b", "%@file%@file"] {
        assert_eq!(object_at(&path(none)), None, "{none}");
    }
    assert_eq!(object_at(&[Name::new(vec![0xff]).unwrap()]), None);
    assert_eq!(directory_at(&path("a%@file")), None);
    assert_eq!(directory_at(&path("a/%@-")), Some(Spelled::Directory("a//".to_owned())));
}

#[test]
fn times_come_back() {
    for (secs, nanos) in [(0, 0), (1_609_459_200, 5), (-1, 1), (-1, 0), (-5, 250_000_000), (7, 999_999_999)] {
        let mtime = Some(Timestamp { secs, nanos });
        let mut user = BTreeMap::new();
        let attributes = Attributes { kind: Some(Kind::Symlink), mode: Some(0o4755), uid: Some(7), gid: None, mtime };
        attributes.write(&mut user);
        assert_eq!(Attributes::read(&user), attributes, "{user:?}");
    }
}

proptest! {
    #[test]
    fn every_key_has_a_path_that_says_it(key in "([%@/.a\0]|é|%@|%@-|%@file|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa){1,24}", beside: bool) {
        let path = path_of_object(&key, beside).unwrap();
        prop_assert_eq!(object_at(&path), Some(Spelled::Object { key: key.clone(), beside }));
        let path = path_of_directory(&key).unwrap();
        prop_assert_eq!(directory_at(&path), Some(Spelled::Directory(format!("{key}/"))));
    }
}
