use super::{Chain, EARLY, KEPT_MAX, bucket_endpoint, kept_until};
use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use std::time::{Duration, SystemTime};
use tokio::sync::Mutex;

fn credentials(expiry: Option<SystemTime>) -> Credentials {
    Credentials::new("AKIA", "s3cret", Some("t0ken".to_owned()), expiry, "test")
}

#[tokio::test]
async fn neither_chain_nor_credential_shows_its_secrets() {
    let provider = SharedCredentialsProvider::new(credentials(None));
    let chain = Chain { provider, kept: Mutex::new(None) };
    let credential = chain.get().await.unwrap();
    assert_eq!(credential.secret_key, "s3cret");
    let shown = format!("{chain:?} {credential:?}");
    assert!(!shown.contains("s3cret") && !shown.contains("t0ken"), "{shown}");
}

#[test]
fn credentials_are_renewed_before_they_expire() {
    let now = SystemTime::now();
    let hour = Duration::from_secs(3600);
    assert_eq!(kept_until(&credentials(None), now), now + KEPT_MAX);
    assert_eq!(kept_until(&credentials(Some(now + hour)), now), now + KEPT_MAX);
    let soon = now + EARLY + Duration::from_secs(10);
    assert_eq!(kept_until(&credentials(Some(soon)), now), now + Duration::from_secs(10));
    assert!(kept_until(&credentials(Some(now)), now) <= now);
}

#[test]
fn the_bucket_goes_into_the_host_or_not() {
    assert_eq!(bucket_endpoint("https://s3.example.com", "b", false), "https://b.s3.example.com");
    assert_eq!(bucket_endpoint("https://s3.example.com", "b", true), "https://s3.example.com");
}
