use super::{content_range, expected};
use hyper::HeaderMap;
use hyper::header::HeaderValue;
use object_store::GetRange;

#[test]
fn ranges_end_where_the_object_does() {
    assert_eq!(expected(None, 10), 0..10);
    assert_eq!(expected(Some(&GetRange::Bounded(2..5)), 10), 2..5);
    assert_eq!(expected(Some(&GetRange::Bounded(2..50)), 10), 2..10);
    assert_eq!(expected(Some(&GetRange::Offset(3)), 10), 3..10);
    assert_eq!(expected(Some(&GetRange::Suffix(3)), 10), 7..10);
    assert_eq!(expected(Some(&GetRange::Suffix(30)), 10), 0..10);
}

#[test]
fn content_ranges_are_read_or_refused() {
    let read = |text: &str| {
        let mut headers = HeaderMap::new();
        headers.insert("content-range", HeaderValue::from_str(text).unwrap());
        content_range(&headers)
    };
    assert_eq!(read("bytes 0-9/100").unwrap(), (0..10, 100));
    for bad in ["", "bytes */100", "bytes 0-9/*", "bytes 9-0/100", "bytes 0-100/100", "0-9/100", "bytes -1-2/9"] {
        assert!(read(bad).is_err(), "{bad}");
    }
}
