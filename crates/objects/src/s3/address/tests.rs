use super::Address;

#[test]
fn the_bucket_stands_in_the_host_or_the_path() {
    let url = |address: &Address, key| address.url("eu-west-1", key, &[]);
    let amazon = Address::new("bucket", None, None);
    assert_eq!(url(&amazon, Some("/a//b/.")), "https://bucket.s3.eu-west-1.amazonaws.com//a//b/.");
    assert_eq!(url(&amazon, None), "https://bucket.s3.eu-west-1.amazonaws.com/");
    let dotted = Address::new("my.bucket", None, None);
    assert_eq!(url(&dotted, Some("k")), "https://s3.eu-west-1.amazonaws.com/my.bucket/k");
    let china = Address::new("bucket", None, Some(true));
    assert_eq!(china.url("cn-north-1", None, &[]), "https://s3.cn-north-1.amazonaws.com.cn/bucket");
    let own = Address::new("bucket", Some("http://host:9000/s3"), None);
    assert_eq!(url(&own, Some("..")), "http://host:9000/s3/bucket/..");
    let own = Address::new("bucket", Some("http://host:9000"), Some(false));
    assert_eq!(url(&own, Some("k")), "http://bucket.host:9000/k");
    assert!(!own.is_tls() && amazon.is_tls());
}

#[test]
fn queries_are_encoded() {
    let address = Address::new("b-1", Some("http://h"), None);
    let url = address.url("r", None, &[("list-type", "2"), ("prefix", "a b/+&=\u{fc}")]);
    assert_eq!(url, "http://h/b-1?list-type=2&prefix=a%20b%2F%2B%26%3D%C3%BC");
}
