use super::*;

fn headers(metadata: &[(&str, &str)]) -> Headers {
    let metadata = metadata.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Headers { metadata, ..Headers::default() }
}

#[test]
fn what_an_object_carries_comes_back() {
    let mut object =
        headers(&[("mode", "33261"), ("uid", "7"), ("gid", "8"), ("mtime", "5.250000000"), ("color", "red")]);
    object.content_type = Some("image/png".to_owned());
    object.cache_control = Some("no-store".to_owned());
    let mut carried = Carried::by_object(&object, Some(SystemTime::now()));
    assert_eq!(carried.xattrs.get("user.color").unwrap(), b"red");
    assert_eq!(carried.xattrs.get("user.mime_type").unwrap(), b"image/png");
    assert_eq!((carried.headers(), carried.left_out), (object, 0));
}

#[test]
fn what_says_nothing_is_the_server_s() {
    let written = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(9);
    let object = Headers { content_type: Some("binary/octet-stream".to_owned()), ..Headers::default() };
    let carried = Carried::by_object(&object, Some(written));
    assert!(carried.xattrs.is_empty());
    assert_eq!(carried.attributes.mtime, Some(Timestamp { secs: 9, nanos: 0 }));
    assert_eq!(carried.attributes.mode, None);
}

#[test]
fn attributes_that_headers_can_t_say_are_counted() {
    let mut carried = Carried::default();
    for (name, value) in [
        ("user.plain", b"value".to_vec()),
        ("user.Upper", b"x".to_vec()),
        ("user.mode", b"7".to_vec()),
        ("user.bytes", vec![0xff]),
        ("user.space", b" x".to_vec()),
        ("user.long", vec![b'x'; 3000]),
    ] {
        carried.xattrs.insert(name.to_owned(), value);
    }
    let headers = carried.headers();
    assert_eq!(headers.metadata.keys().collect::<Vec<_>>(), ["plain"]);
    assert_eq!(carried.left_out, 5);
}

#[test]
fn room_is_left_for_what_a_write_adds() {
    let room = 2048 - "stoaputid".len() - 64;
    for (len, left_out) in [(room - 4, 0), (room - 3, 1)] {
        let mut carried = Carried::default();
        carried.xattrs.insert("user.long".to_owned(), vec![b'x'; len]);
        assert_eq!((carried.headers().metadata.len(), carried.left_out), (1 - left_out, left_out as u64));
    }
}
