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

proptest! {
    #[test]
    fn every_key_has_a_path_that_says_it(key in "([%@/.a\0]|é|%@|%@-|%@file|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa){1,24}", beside: bool) {
        let path = path_of_object(&key, beside).unwrap();
        prop_assert_eq!(object_at(&path), Some(Spelled::Object { key: key.clone(), beside }));
        let path = path_of_directory(&key).unwrap();
        prop_assert_eq!(directory_at(&path), Some(Spelled::Directory(format!("{key}/"))));
    }
}
