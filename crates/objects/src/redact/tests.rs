use super::{endpoint, short};

#[test]
fn an_xml_body_becomes_its_code_and_message() {
    let text = "Server returned 403: <?xml?><Error><Code>AccessDenied</Code><Message>Access Denied.</Message><StringToSign>x</StringToSign></Error>";
    assert_eq!(short(text), "AccessDenied: Access Denied.");
}

#[test]
fn queries_and_user_info_are_cut_from_urls() {
    let text = "GET https://me:s3cret@host:9000/b/k?X-Amz-Signature=s3cret&sig=s3cret failed";
    let line = short(text);
    assert_eq!(line, "GET https://host:9000/b/k?... failed");
    assert!(!line.contains("s3cret"));
}

#[test]
fn the_introduction_of_the_client_is_left_out() {
    let text = "Generic S3 error: Error performing list request: Error performing GET http://h:1/b?x in 1ms - HTTP error: refused";
    assert_eq!(short(text), "refused");
}

#[test]
fn long_text_is_cut_at_a_character() {
    let line = short(&"é".repeat(1000));
    assert!(line.len() <= 303, "{}", line.len());
    assert!(line.ends_with("..."));
}

#[test]
fn the_endpoint_is_found_in_an_error_text() {
    let text = "Error performing PUT http://127.0.0.1:9000/b/k in 3ms - HTTP error: error sending request";
    assert_eq!(endpoint(text).as_deref(), Some("http://127.0.0.1:9000"));
    assert_eq!(endpoint("no url"), None);
}
