use super::{Payload, sign};
use chrono::DateTime;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method};
use object_store::aws::AwsCredential;
use std::time::SystemTime;

const HOST: &str = "examplebucket.s3.amazonaws.com";
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn credential(token: Option<&str>) -> AwsCredential {
    AwsCredential {
        key_id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
        secret_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
        token: token.map(str::to_owned),
    }
}

fn signed(method: Method, path: &str, extra: &[(&'static str, &'static str)], hash: &str) -> HeaderMap {
    let time: SystemTime = DateTime::parse_from_rfc3339("2013-05-24T00:00:00Z").unwrap().into();
    let mut headers = HeaderMap::new();
    headers.insert("host", HeaderValue::from_static(HOST));
    for (name, value) in extra {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    let payload = Payload::Sha256(hash.to_owned());
    let url = format!("https://{HOST}{path}");
    sign(&method, &url, &mut headers, &payload, "us-east-1", &credential(None), time).unwrap();
    headers
}

fn signature(headers: &HeaderMap) -> String {
    let authorization = headers.get(AUTHORIZATION).unwrap().to_str().unwrap();
    authorization.rsplit_once("Signature=").unwrap().1.to_owned()
}

/// The examples of "Authenticating Requests: Using the Authorization Header" in Amazon's S3 API reference.
#[test]
fn the_published_examples() {
    let get = signed(Method::GET, "/test.txt", &[("range", "bytes=0-9")], EMPTY);
    assert_eq!(signature(&get), "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    let put = signed(
        Method::PUT,
        "/test%24file.text",
        &[("date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
        "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
    );
    assert_eq!(signature(&put), "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
    let lifecycle = signed(Method::GET, "/?lifecycle=", &[], EMPTY);
    assert_eq!(signature(&lifecycle), "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    let list = signed(Method::GET, "/?max-keys=2&prefix=J", &[], EMPTY);
    assert_eq!(signature(&list), "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

#[test]
fn dots_and_empty_parts_are_signed_as_they_are() {
    let paths = ["/a/b", "/a//b", "/a/./b", "/a/../a/b", "/a/b/", "//a/b"];
    let all: std::collections::HashSet<_> =
        paths.iter().map(|path| signature(&signed(Method::GET, path, &[], EMPTY))).collect();
    assert_eq!(all.len(), paths.len());
}

#[test]
fn a_session_token_is_sent_signed_and_not_shown() {
    let mut headers = HeaderMap::new();
    headers.insert("host", HeaderValue::from_static(HOST));
    let url = format!("https://{HOST}/k");
    let credential = credential(Some("t0ken"));
    sign(&Method::GET, &url, &mut headers, &Payload::Unsigned, "eu-west-1", &credential, SystemTime::now()).unwrap();
    assert_eq!(headers.get("x-amz-security-token").unwrap(), "t0ken");
    assert_eq!(headers.get("x-amz-content-sha256").unwrap(), "UNSIGNED-PAYLOAD");
    let authorization = headers.get(AUTHORIZATION).unwrap().to_str().unwrap();
    assert!(authorization.contains("x-amz-security-token") && authorization.contains("/eu-west-1/s3/aws4_request"));
    let shown = format!("{headers:?}");
    assert!(!shown.contains("t0ken"), "{shown}");
}
