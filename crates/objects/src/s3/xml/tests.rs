use super::{Element, can_carry, write};
use proptest::prelude::*;

#[test]
fn elements_and_text() {
    let text = b"<?xml version=\"1.0\"?>\n  <R xmlns=\"http://s3\"><A> x &amp;&quot;&#x41;&lt; </A><s3:B/><A><![CDATA[<&]]></A></R>";
    let root = Element::parse(text).unwrap();
    assert!(root.is("R"));
    let all: Vec<_> = root.all("A").map(Element::text).collect();
    assert_eq!(all, [" x &\"A< ", "<&"]);
    assert_eq!(root.text_of("B"), Some(""));
    assert_eq!(root.text_of("C"), None);
    assert!(root.need("C").is_err() && root.parsed::<u64>("A").is_err());
}

#[test]
fn spaces_that_keep_a_connection_open_come_first() {
    for before in ["", " ", "  \n \r\n  ", "\t"] {
        let text = format!("{before}<?xml version=\"1.0\"?>  \n <Error><Code>InternalError</Code></Error>");
        assert_eq!(Element::parse(text.as_bytes()).unwrap().text_of("Code"), Some("InternalError"));
    }
}

#[test]
fn what_is_cut_or_no_xml_is_refused() {
    let whole = "<R><A>text</A></R>";
    for end in 0..whole.len() {
        assert!(Element::parse(&whole.as_bytes()[..end]).is_err(), "{end}");
    }
    for bad in ["<html><p>no</html>", "</a>", "<a>&nbsp;</a>", "<a>&#0;</a>", "{}", &"<a>".repeat(1000)] {
        assert!(Element::parse(bad.as_bytes()).is_err(), "{bad}");
    }
}

#[test]
fn what_xml_has_no_characters_for() {
    assert!(can_carry("a/b ü &<>\"'"));
    for bad in ["\u{1}", "a\r", "\n", "\u{7f}", "\u{ffff}"] {
        assert!(!can_carry(bad));
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        let _ = Element::parse(&bytes);
    }

    #[test]
    fn anything_like_xml_is_read_or_refused(text in "[<>/&;#x0-9a-z \"'=!\\[\\]?-]{0,80}") {
        let _ = Element::parse(text.as_bytes());
    }

    #[test]
    fn text_comes_back(text: String) {
        prop_assume!(can_carry(&text));
        let mut document = "<R>".to_owned();
        write(&mut document, "K", &text);
        document.push_str("</R>");
        let root = Element::parse(document.as_bytes()).unwrap();
        prop_assert_eq!(root.text_of("K"), Some(text.as_str()));
    }
}
