use super::{AGAIN, Chain, EARLY, KEPT_MAX, Kept, bucket_endpoint, kept_until};
use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider, future};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
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

/// A place that gives no credentials any more, and counts how often it was asked.
#[derive(Debug, Clone, Default)]
struct Broken(Arc<AtomicU32>);

impl ProvideCredentials for Broken {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        self.0.fetch_add(1, Ordering::Relaxed);
        future::ProvideCredentials::ready(Err(CredentialsError::provider_error("no answer")))
    }
}

#[tokio::test]
async fn credentials_that_cannot_be_renewed_are_used_until_they_expire() {
    let now = SystemTime::now();
    let hour = Duration::from_secs(3600);
    for (expiry, valid) in [(Some(now + hour), true), (None, true), (Some(now - hour), false)] {
        let broken = Broken::default();
        let kept = Kept { until: now - hour, ..Kept::new(&credentials(expiry), now) };
        let provider = SharedCredentialsProvider::new(broken.clone());
        let chain = Chain { provider, kept: Mutex::new(Some(kept)) };
        for _ in 0..3 {
            assert_eq!(chain.get().await.is_ok(), valid, "{expiry:?}");
        }
        let asked = if valid { 1 } else { 3 };
        assert_eq!(broken.0.load(Ordering::Relaxed), asked, "{expiry:?}: not for each request while there are any");
    }
}

#[test]
fn credentials_are_renewed_before_they_expire() {
    let now = SystemTime::now();
    let hour = Duration::from_secs(3600);
    assert_eq!(kept_until(&credentials(None), now), now + KEPT_MAX);
    assert_eq!(kept_until(&credentials(Some(now + hour)), now), now + KEPT_MAX);
    let soon = now + EARLY + Duration::from_secs(100);
    assert_eq!(kept_until(&credentials(Some(soon)), now), now + Duration::from_secs(100));
    assert!(kept_until(&credentials(Some(now)), now) <= now);
    // A place that has only such to give is not asked before each request.
    assert_eq!(kept_until(&credentials(Some(now + EARLY)), now), now + AGAIN);
    assert_eq!(kept_until(&credentials(Some(now + AGAIN / 2)), now), now + AGAIN / 2);
}

#[test]
fn the_bucket_goes_into_the_host_or_not() {
    assert_eq!(bucket_endpoint("https://s3.example.com", "b", false), "https://b.s3.example.com");
    assert_eq!(bucket_endpoint("https://s3.example.com", "b", true), "https://s3.example.com");
}
