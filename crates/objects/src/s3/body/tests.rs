use super::{Chunks, crc64nvme, md5, sha256};
use crate::s3::sign::Payload;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body;
use object_store::PutPayload;

#[tokio::test]
async fn chunks_are_sent_as_they_are() {
    let big = Bytes::from(vec![7; 100_000]);
    let payload: PutPayload = [Bytes::from("a"), Bytes::new(), big.clone()].into_iter().collect();
    let mut chunks = Chunks::new(payload);
    assert_eq!(chunks.size_hint().exact(), Some(100_001));
    assert_eq!(chunks.frame().await.unwrap().unwrap().into_data().unwrap(), "a");
    let second = chunks.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(second.as_ptr(), big.as_ptr(), "not copied");
    assert!(chunks.is_end_stream() && chunks.frame().await.is_none());
    assert!(Chunks::new(PutPayload::new()).is_end_stream());
}

#[tokio::test]
async fn hashes_are_those_of_all_chunks() {
    let payload: PutPayload = [Bytes::from("Welcome to "), Bytes::from("Amazon S3.")].into_iter().collect();
    let known = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
    assert_eq!(sha256(&payload).await, Payload::Sha256(known.to_owned()));
    // The check value of the algorithm's definition.
    let nine: PutPayload = [Bytes::from("1234"), Bytes::from("56789")].into_iter().collect();
    let check = 0xae8b_1486_0a79_9888_u64.to_be_bytes();
    assert_eq!(crc64nvme(&nine), base64::Engine::encode(&base64::prelude::BASE64_STANDARD, check));
    assert_eq!(md5(b""), "1B2M2Y8AsgTpgAmY7PhCfg==");
}

#[tokio::test]
async fn long_payloads_have_the_same_hash_wherever_it_is_computed() {
    let long = Bytes::from(vec![1; super::LONG]);
    let parts: PutPayload = [long.slice(..5), long.slice(5..)].into_iter().collect();
    assert_eq!(sha256(&parts).await, sha256(&long.into()).await);
}
