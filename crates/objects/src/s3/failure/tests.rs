use super::{Failure, date};
use crate::Error;
use crate::classify::Class;
use hyper::HeaderMap;
use hyper::header::HeaderValue;
use std::time::{Duration, SystemTime};

fn answer(status: u16, code: &str) -> Failure {
    let body = format!("<Error><Code>{code}</Code><Message>because</Message></Error>");
    Failure::of_answer(status, &HeaderMap::new(), if code.is_empty() { b"" } else { body.as_bytes() })
}

#[test]
fn statuses_and_codes_say_what_happened() {
    for (status, code, class) in [
        (404, "NoSuchKey", Class::NotFound),
        (404, "NoSuchVersion", Class::NotFound),
        (404, "", Class::NotFound),
        (404, "NoSuchBucket", Class::BucketGone),
        (404, "NoSuchUpload", Class::UploadGone),
        (403, "AccessDenied", Class::Denied),
        (403, "", Class::Denied),
        (403, "InvalidAccessKeyId", Class::Credentials),
        (404, "XAdminUserNotFound", Class::Credentials),
        (400, "ExpiredToken", Class::Credentials),
        (403, "InvalidObjectState", Class::Rejected),
        (412, "PreconditionFailed", Class::Precondition),
        (412, "", Class::Precondition),
        (416, "InvalidRange", Class::InvalidRange),
        (416, "", Class::InvalidRange),
        (409, "ConditionalRequestConflict", Class::Transient),
        (503, "SlowDown", Class::Transient),
        (500, "InternalError", Class::Transient),
        (502, "", Class::Transient),
        (501, "NotImplemented", Class::Unsupported),
        (400, "EntityTooSmall", Class::Rejected),
        (405, "MethodNotAllowed", Class::Rejected),
        (507, "", Class::Full),
        // An error inside of a success.
        (200, "InternalError", Class::Transient),
        (200, "AccessDenied", Class::Denied),
        (200, "PreconditionFailed", Class::Precondition),
        (200, "InvalidPart", Class::Rejected),
    ] {
        assert_eq!(answer(status, code).class, class, "{status} {code}");
    }
}

#[test]
fn messages_name_what_was_tried_and_what_the_server_said() {
    let error = answer(403, "AccessDenied").into_error("put \"k\"", String::new);
    assert!(matches!(error, Error::Denied { .. }));
    assert_eq!(error.to_string(), "put \"k\": permission denied (HTTP 403 AccessDenied: because)");
    assert_eq!(answer(502, "").to_string(), "HTTP 502");
}

#[test]
fn what_a_server_says_in_plain_text_is_passed_on() {
    let said = |body: &str| Failure::of_answer(400, &HeaderMap::new(), body.as_bytes()).to_string();
    assert_eq!(
        said("Client sent an HTTP request to an HTTPS server.\n"),
        "HTTP 400 Client sent an HTTP request to an HTTPS server."
    );
    assert_eq!(said("<html><body>400</body></html>"), "HTTP 400");
}

#[test]
fn a_delete_marker_is_no_object() {
    let mut headers = HeaderMap::new();
    headers.insert("x-amz-delete-marker", HeaderValue::from_static("true"));
    assert_eq!(Failure::of_answer(405, &headers, b"").class, Class::NotFound);
}

#[test]
fn the_region_comes_from_the_header_or_the_body() {
    let mut headers = HeaderMap::new();
    let body = b"<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-north-1</Region></Error>";
    let told = Failure::of_answer(400, &headers, body);
    assert!(told.is_elsewhere("us-east-1") && !told.is_elsewhere("eu-north-1"));
    headers.insert("x-amz-bucket-region", HeaderValue::from_static("eu-west-3"));
    let redirect = Failure::of_answer(301, &headers, b"");
    assert_eq!(redirect.region.as_deref(), Some("eu-west-3"));
    assert!(redirect.is_elsewhere("us-east-1"));
    assert!(!Failure::of_answer(404, &headers, b"").is_elsewhere("us-east-1"));
}

#[test]
fn a_wrong_clock_is_seen_with_or_without_a_code() {
    let now = date("Fri, 24 May 2013 00:00:00 GMT").unwrap();
    assert!(answer(403, "RequestTimeTooSkewed").is_skew(now));
    let mut headers = HeaderMap::new();
    headers.insert("date", HeaderValue::from_static("Fri, 24 May 2013 00:00:00 GMT"));
    let bare = Failure::of_answer(403, &headers, b"");
    assert!(!bare.is_skew(now));
    assert!(bare.is_skew(now + Duration::from_secs(1000)) && bare.is_skew(now - Duration::from_secs(1000)));
    assert!(!answer(403, "AccessDenied").is_skew(SystemTime::now()));
}

proptest::proptest! {
    #[test]
    fn any_answer_means_something(status in 100..600_u16, body: Vec<u8>) {
        let failure = Failure::of_answer(status, &HeaderMap::new(), &body);
        let _ = failure.into_error("op", String::new).to_string();
    }
}
