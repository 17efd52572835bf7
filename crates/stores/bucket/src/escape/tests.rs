use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

fn names(component: &str, beside: bool) -> Vec<String> {
    parts(component, beside).map(|part| String::from_utf8(part.name.as_bytes().to_vec()).unwrap()).collect()
}

/// What the names of a component say, put together again.
fn back(names: &[String]) -> (String, bool) {
    let mut component = String::new();
    for (at, name) in names.iter().enumerate() {
        let (text, role) = decode(&Name::new(name.clone()).unwrap()).unwrap();
        component.push_str(&text);
        assert_eq!(role == Role::Continued, at + 1 < names.len(), "{names:?}");
        if role != Role::Continued {
            return (component, role == Role::Beside);
        }
    }
    panic!("{names:?} have no end");
}

#[test]
fn what_is_shown() {
    for plain in ["a", "...", "100%", "a%2Fb", "%20", "@home", "%", "cat.jpg", "ü", "a\nb", " ", "-"] {
        assert_eq!(names(plain, false), [plain]);
    }
    assert_eq!(names("", false), ["%@-"]);
    assert_eq!(names(".", false), ["%@-."]);
    assert_eq!(names("..", false), ["%@-.."]);
    assert_eq!(names("a\0b", false), ["a%@0b"]);
    assert_eq!(names("%@", false), ["%@@"]);
    assert_eq!(names("%@file", false), ["%@@file"]);
    assert_eq!(names("a", true), ["a%@file"]);
    assert_eq!(names("", true), ["%@file"]);
    let long = "x".repeat(300);
    assert_eq!(names(&long, false), [format!("{}%@+", "x".repeat(252)), "x".repeat(48)]);
}

#[test]
fn the_longest_names_are_left_as_they_are() {
    for len in [249, 250, 254, 255] {
        let name = "n".repeat(len);
        assert_eq!(names(&name, false).concat(), name);
        assert_eq!(back(&names(&name, true)), (name, true));
    }
    assert_eq!(names(&"n".repeat(256), false).len(), 2);
    // The longest key there is.
    assert_eq!(back(&names(&"€".repeat(341), false)).0, "€".repeat(341));
}

#[test]
fn names_that_say_nothing() {
    for odd in ["%@", "%@x", "a%@", "%@-%@-", "a%@-", "%@filex", "%@+x", "a%@file%@file", "%@2F"] {
        let found = decode(&Name::new(odd).unwrap());
        let spelled = found.map(|(text, role)| names(&text, role == Role::Beside));
        assert_ne!(spelled, Some(vec![odd.to_owned()]), "{odd}");
    }
    assert_eq!(decode(&Name::new(&b"\xff"[..]).unwrap()), None);
    // Another spelling of a plain name is none.
    assert_eq!(decode(&Name::new("%@-a").unwrap()), Some(("a".to_owned(), Role::Plain)));
    assert_eq!(names("a", false), ["a"]);
}

#[test]
fn names_in_the_middle_are_found_by_where_they_begin() {
    let long = "x".repeat(700);
    let all: Vec<_> = parts(&long, false).collect();
    assert_eq!(all.len(), 3);
    assert_eq!(part_at(&long, false, 0).as_ref(), Some(&all[0]));
    assert_eq!(part_at(&long, false, 252).as_ref(), Some(&all[1]));
    assert_eq!(part_at(&long, false, 504).as_ref(), Some(&all[2]));
    assert_eq!(part_at(&long, false, 300), None);
    assert_eq!(part_at("short", false, 5), None);
    assert_eq!((last_start(&long), last_start("short")), (504, 0));
    assert_eq!(last_start(&long[..504]), 252, "of a beginning");
}

/// Text with much that could be taken for an escape.
fn components() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z%@.0+-]{0,6}",
        2 => prop::sample::select(vec!["%@", "%@-", "%@0", "%@@", "%@file", "%@+", ".", "..", "\0", "€", "%", "@"])
            .prop_map(str::to_owned),
        1 => (1..260_usize).prop_map(|len| "y".repeat(len)),
        1 => any::<String>().prop_map(|text| text.replace('/', "")),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_component_comes_back(component in components(), beside: bool) {
        let names = names(&component, beside);
        prop_assert!(names.iter().all(|name| Name::new(name.clone()).is_ok()));
        prop_assert_eq!(back(&names), (component, beside));
    }

    #[test]
    fn no_two_have_one_name(all in prop::collection::hash_set((components(), any::<bool>()), 1..20)) {
        let mut seen = HashMap::new();
        for (component, beside) in all {
            let before = seen.insert(names(&component, beside), component.clone());
            prop_assert!(before.is_none(), "{before:?} and {component:?}");
        }
    }

    #[test]
    fn ordinary_names_stay(component in "[^/\0]{1,60}") {
        prop_assume!(!component.contains("%@") && component != "." && component != "..");
        prop_assert_eq!(names(&component, false), vec![component]);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 1..40)) {
        if let Ok(name) = Name::new(bytes) {
            drop(decode(&name));
        }
    }
}
