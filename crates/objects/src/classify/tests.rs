use super::{Class, classify, of_transport, shown};
use object_store::Error;
use std::io;

fn generic(text: &str) -> Error {
    Error::Generic { store: "S3", source: text.into() }
}

fn io_error(kind: io::ErrorKind) -> Error {
    Error::Generic { store: "directory", source: Box::new(io::Error::from(kind)) }
}

#[test]
fn statuses_say_what_passes() {
    let text = |status: &str| generic(&format!("Server returned non-2xx status code: {status}: "));
    assert_eq!(classify(&text("503 Service Unavailable")), Class::Transient);
    assert_eq!(classify(&text("500 Internal Server Error")), Class::Transient);
    assert_eq!(classify(&text("429 Too Many Requests")), Class::Transient);
    assert_eq!(classify(&text("400 Bad Request")), Class::Rejected);
    assert_eq!(classify(&text("403 Forbidden")), Class::Denied);
    assert_eq!(classify(&text("501 Not Implemented")), Class::Unsupported);
    assert_eq!(classify(&text("301 Moved Permanently")), Class::WrongRegion);
}

#[test]
fn codes_in_the_body_win_over_the_status() {
    let gone = Error::NotFound {
        path: "k".to_owned(),
        source: "status code: 404 Not Found: <Error><Code>NoSuchBucket</Code></Error>".into(),
    };
    assert_eq!(classify(&gone), Class::BucketGone);
    let expired = generic("status code: 400 Bad Request: <Error><Code>ExpiredToken</Code></Error>");
    assert_eq!(classify(&expired), Class::Credentials);
    let conflict = Error::AlreadyExists {
        path: "k".to_owned(),
        source: "status code: 409 Conflict: <Error><Code>ConditionalRequestConflict</Code></Error>".into(),
    };
    assert_eq!(classify(&conflict), Class::Transient);
}

#[test]
fn errors_of_the_system_keep_their_meaning() {
    assert_eq!(classify(&io_error(io::ErrorKind::StorageFull)), Class::Full);
    assert_eq!(classify(&io_error(io::ErrorKind::PermissionDenied)), Class::Denied);
    assert_eq!(classify(&io_error(io::ErrorKind::TimedOut)), Class::Transient);
    let missing = Error::NotFound { path: "k".to_owned(), source: Box::new(io::Error::from(io::ErrorKind::NotFound)) };
    assert_eq!(classify(&missing), Class::NotFound);
}

/// As rustls, tokio-rustls and hyper say it.
#[test]
fn a_connection_that_ends_under_tls_is_no_tls_problem() {
    let closed = "peer closed connection without sending TLS close_notify: https://docs.rs/rustls/latest/rustls/manual/_03_howto/index.html#unexpected-eof";
    for (text, connecting, class) in [
        // A balancer whose server is down.
        ("client error (Connect): tls handshake eof", true, Class::Unreachable),
        (closed, true, Class::Unreachable),
        ("client error (Connect): Connection reset by peer (os error 104)", true, Class::Unreachable),
        // A server that was killed before it answered: what was sent may have taken effect.
        (closed, false, Class::Transient),
        // What a person has to put right.
        ("client error (Connect): invalid peer certificate: UnknownIssuer", true, Class::Tls),
        ("client error (Connect): received corrupt message of type InvalidContentType", true, Class::Tls),
        ("client error (Connect): received fatal alert: HandshakeFailure", true, Class::Tls),
        // With TLS 1.3 the server asks for one after the client is done, and has read nothing of the request.
        ("connection error: received fatal alert: CertificateRequired", false, Class::Tls),
    ] {
        assert_eq!(of_transport(text, connecting), class, "{text}");
    }
}

#[test]
fn plain_answers_never_pass_by_waiting() {
    let path = || "k".to_owned();
    for error in [
        Error::NotFound { path: path(), source: "".into() },
        Error::AlreadyExists { path: path(), source: "".into() },
        Error::Precondition { path: path(), source: "".into() },
        Error::NotModified { path: path(), source: "".into() },
    ] {
        let class = classify(&error);
        assert!(!class.passes() && !class.may_be_mended(), "{error}");
    }
}

/// A server says how it understood a request whose signature is wrong; with temporary credentials their token is in that.
#[test]
fn what_is_shown_has_no_document_in_it_and_means_the_same() {
    let body = "<Error><Code>SignatureDoesNotMatch</Code><Message>The signature is wrong.</Message>\
        <CanonicalRequest>x-amz-security-token:s3cret</CanonicalRequest></Error>";
    let said =
        |status: &str| format!("Error performing PUT http://h/b/k in 1ms - Server returned {status}: {body}").into();
    for error in [
        Error::PermissionDenied { path: "k".into(), source: said("403") },
        Error::Generic { store: "S3", source: said("400") },
        Error::NotFound { path: "k".into(), source: said("404") },
    ] {
        let class = classify(&error);
        let shown = shown(error);
        for text in [shown.to_string(), format!("{shown:?}")] {
            assert!(text.contains("The signature is wrong.") && !text.contains("s3cret"), "{text}");
        }
        assert_eq!((classify(&shown), class), (Class::Credentials, Class::Credentials));
    }
    let plain = generic("status code: 503 Service Unavailable");
    assert_eq!(shown(plain).to_string(), "Generic S3 error: status code: 503 Service Unavailable");
}
