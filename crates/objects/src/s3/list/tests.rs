use super::page;
use crate::classify::Class;
use crate::s3::attempts::Answer;
use proptest::prelude::*;
use std::time::{Duration, SystemTime};

fn read(body: &str) -> Result<super::Page, crate::s3::failure::Failure> {
    page(&Answer::with_body(body))
}

const ENCODED: &str = "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
    <Name>b</Name><Prefix>a+b%2F</Prefix><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>\
    <Contents><Key>a+b%2F%01%2B%25/../x//</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified>\
    <ETag>&quot;fba9dede5f27731c9771645a39863328&quot;</ETag><Size>434234</Size><StorageClass>STANDARD</StorageClass></Contents>\
    <CommonPrefixes><Prefix>%C3%BC/</Prefix></CommonPrefixes>\
    <Contents><Key>z</Key><Size>0</Size></Contents>\
    <NextContinuationToken>1a+%2F==</NextContinuationToken></ListBucketResult>";

#[test]
fn encoded_keys_are_read_byte_for_byte_and_tokens_left_alone() {
    let page = read(ENCODED).unwrap();
    let first = &page.objects[0];
    assert_eq!(first.key, "a b/\u{1}+%/../x//");
    assert_eq!(first.etag.as_deref(), Some("\"fba9dede5f27731c9771645a39863328\""));
    assert_eq!((first.size, first.storage_class.as_deref()), (434_234, Some("STANDARD")));
    assert_eq!(first.modified, Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_255_369_830)));
    assert_eq!(page.objects[1].key, "z");
    assert_eq!(page.prefixes, ["ü/"]);
    assert_eq!(page.next.as_deref(), Some("1a+%2F=="));
}

#[test]
fn keys_that_a_server_did_not_encode_are_not_decoded() {
    let body = ENCODED.replace("<EncodingType>url</EncodingType>", "");
    assert_eq!(read(&body).unwrap().objects[0].key, "a+b%2F%01%2B%25/../x//");
}

#[test]
fn a_page_that_is_not_whole_is_no_page() {
    for (part, other) in [
        ("<IsTruncated>true</IsTruncated>", ""),
        ("<NextContinuationToken>1a+%2F==</NextContinuationToken>", ""),
        ("<Size>434234</Size>", ""),
        ("<Key>z</Key>", "<Key>%ff</Key>"),
        ("</ListBucketResult>", ""),
        ("ListBucketResult", "html"),
    ] {
        let failure = read(&ENCODED.replace(part, other)).unwrap_err();
        assert_eq!(failure.class, Class::Corrupt, "{part}");
    }
    let failure = read("<Error><Code>NoSuchBucket</Code><Message/></Error>").unwrap_err();
    assert_eq!(failure.class, Class::BucketGone);
}

proptest! {
    #[test]
    fn any_answer_is_a_page_or_refused(at in 0..ENCODED.len(), junk in "[<>/&;a-zA-Z0-9]{0,6}") {
        let (before, after) = ENCODED.split_at(at);
        let _ = read(&format!("{before}{junk}{after}"));
    }
}
