use super::{decode, key, query};
use proptest::prelude::*;

fn encoded(text: &str) -> String {
    let mut into = String::new();
    key(text, &mut into);
    into
}

#[test]
fn nothing_is_normalised() {
    for same in ["a//b", "a/./b", "../a", "a/..", ".", "..", "//", "a/", "/a", "-._~"] {
        assert_eq!(encoded(same), same);
    }
    assert_eq!(encoded("a b+c%d?e#f"), "a%20b%2Bc%25d%3Fe%23f");
    assert_eq!(encoded("ü\u{1}"), "%C3%BC%01");
    let mut value = String::new();
    query("a/b=c&d", &mut value);
    assert_eq!(value, "a%2Fb%3Dc%26d");
}

#[test]
fn both_spellings_of_a_space_are_read() {
    assert_eq!(decode("a+b%20c%2Bd").unwrap(), "a b c+d");
    for bad in ["%", "%2", "%zz", "%FF", "%+1"] {
        assert_eq!(decode(bad), None, "{bad}");
    }
}

proptest! {
    #[test]
    fn keys_come_back(text: String) {
        let encoded = encoded(&text);
        prop_assert!(encoded.bytes().all(|byte| byte.is_ascii_graphic()));
        prop_assert_eq!(decode(&encoded), Some(text));
    }

    #[test]
    fn any_text_is_decoded_or_refused(text: String) {
        let _ = decode(&text);
    }
}
