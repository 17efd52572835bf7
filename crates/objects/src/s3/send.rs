//! Sends requests, and learns from the answers where the bucket is and what time it is.

use super::address::Address;
use super::body::Chunks;
use super::call::{Call, Reads};
use super::customer_key::CustomerKey;
use super::failure::Failure;
use super::http::Http;
use super::sign;
use crate::classify::Class;
use crate::connect::aws::Access;
use crate::{ConnectOptions, Meter};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, HOST, HeaderValue, USER_AGENT};
use hyper::{HeaderMap, Method, Request, Response, Uri};
use object_store::aws::AwsCredentialProvider;
use parking_lot::RwLock;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

/// As much of an error's body as is read.
const ERROR_MAX: usize = 64 << 10;

/// How requests get to the server.
pub(super) struct Sender {
    http: Http,
    address: Address,
    region: RwLock<String>,
    credentials: Option<AwsCredentialProvider>,
    requester_pays: bool,
    customer_key: Option<CustomerKey>,
    /// Whether what was last read is not encrypted with that key: most likely, so is what is read next.
    foreign: AtomicBool,
    /// How many seconds the server's clock is before ours.
    ahead: AtomicI64,
    pub(super) meter: Meter,
}

impl Sender {
    pub(super) fn new(http: Http, address: Address, access: Access, options: &ConnectOptions) -> Self {
        let Access { region, credentials, .. } = access;
        Self {
            http,
            address,
            region: RwLock::new(region),
            credentials,
            requester_pays: options.requester_pays,
            customer_key: options.customer_key.clone(),
            foreign: AtomicBool::new(false),
            ahead: AtomicI64::new(0),
            meter: Meter::new(),
        }
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// Scheme, host and port, for messages.
    pub(super) fn endpoint(&self) -> String {
        self.address.endpoint(&self.region.read())
    }

    /// One request; and once more when it may be the customer's key that is wrong with it, for an object that is not encrypted
    /// with it. Returns only successes.
    pub(super) async fn send(&self, call: &Call<'_>) -> Result<Response<Incoming>, Failure> {
        if self.customer_key.is_none() || call.keyed.reads.is_none() {
            return self.send_with(call, false).await;
        }
        let foreign = self.foreign.load(Ordering::Relaxed);
        let failure = match self.send_with(call, !foreign).await {
            Err(failure) if failure.is_other_key() => failure,
            done => return done,
        };
        match self.send_with(call, foreign).await {
            // It was something else.
            Err(other) if other.is_other_key() => Err(failure),
            done => {
                self.foreign.store(!foreign, Ordering::Relaxed);
                done
            }
        }
    }

    /// One request, `with_key` for what it reads; and once more when the answer tells that the region or the clock was wrong, and
    /// what is right.
    async fn send_with(&self, call: &Call<'_>, with_key: bool) -> Result<Response<Incoming>, Failure> {
        let (mut moved, mut corrected) = (false, false);
        loop {
            let region = self.region.read().clone();
            let time = self.now();
            let failure = match self.once(call, &region, time, with_key).await {
                Ok(response) if response.status().is_success() => return Ok(response),
                Ok(response) => failed(response).await,
                Err(failure) => failure,
            };
            self.meter.failure();
            let elsewhere = failure.region.as_ref().filter(|_| !moved && failure.is_elsewhere(&region));
            if let Some(there) = elsewhere {
                tracing::debug!(bucket = self.address.bucket(), from = %region, to = %there, "the bucket's region");
                there.clone_into(&mut self.region.write());
                moved = true;
            } else if let Some(date) = failure.date.filter(|_| !corrected && failure.is_skew(time)) {
                self.set_clock(date);
                corrected = true;
            } else {
                return Err(failure);
            }
        }
    }

    async fn once(
        &self,
        call: &Call<'_>,
        region: &str,
        time: SystemTime,
        with_key: bool,
    ) -> Result<Response<Incoming>, Failure> {
        let query: Vec<(&str, &str)> = call.query.iter().map(|(name, value)| (*name, value.as_ref())).collect();
        let url = self.address.url(region, call.key, &query);
        let request = self.request(call, &url, region, time, with_key).await?;
        self.meter.request(call.verb);
        self.meter.bytes_out(call.body.content_length() as u64);
        let sent = self.http.request(request).await;
        sent.map_err(|error| Failure::transport(&error, error.is_connect()))
    }

    async fn request(
        &self,
        call: &Call<'_>,
        url: &str,
        region: &str,
        time: SystemTime,
        with_key: bool,
    ) -> Result<Request<Chunks>, Failure> {
        let wrong = |error: &dyn std::fmt::Display| Failure::rejected(format!("the URL can't be used: {error}"));
        let uri: Uri = url.parse().map_err(|error| wrong(&error))?;
        let host = uri.authority().map_or("", |authority| authority.as_str());
        let mut headers = call.headers.clone();
        headers.insert(HOST, HeaderValue::from_str(host).map_err(|error| wrong(&error))?);
        if self.requester_pays {
            headers.insert("x-amz-request-payer", HeaderValue::from_static("requester"));
        }
        self.write_key(call, with_key, &mut headers)?;
        if let Some(credentials) = &self.credentials {
            let found = credentials.get_credential().await;
            let credential = found.map_err(|error| Failure::new(Class::Credentials, crate::redact::chain(&error)))?;
            sign::sign(&call.method, url, &mut headers, &call.hash, region, &credential, time)?;
        }
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("stoa/", env!("CARGO_PKG_VERSION"))));
        if matches!(call.method, Method::PUT | Method::POST) {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(call.body.content_length()));
        }
        let mut request = Request::new(Chunks::new(call.body.clone()));
        *request.method_mut() = call.method.clone();
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        Ok(request)
    }

    /// Says the customer's key for what is written, and for what is read if it goes `with_key`.
    fn write_key(&self, call: &Call<'_>, with_key: bool, headers: &mut HeaderMap) -> Result<(), Failure> {
        let Some(key) = &self.customer_key else {
            let text =
                "the object is to be encrypted with a key of yours (SSE-C), and there is none: --sse-key-file FILE";
            return if call.keyed.writes { Err(Failure::rejected(text.to_owned())) } else { Ok(()) };
        };
        if call.keyed.writes || (with_key && call.keyed.reads == Some(Reads::Object)) {
            key.write(headers);
        }
        if with_key && call.keyed.reads == Some(Reads::Source) {
            key.write_source(headers);
        }
        Ok(())
    }

    /// The time by the server's clock, as far as it is known to differ.
    fn now(&self) -> SystemTime {
        let ahead = self.ahead.load(Ordering::Relaxed);
        let apart = Duration::from_secs(ahead.unsigned_abs());
        let now = SystemTime::now();
        if ahead < 0 { now.checked_sub(apart) } else { now.checked_add(apart) }.unwrap_or(now)
    }

    fn set_clock(&self, server: SystemTime) {
        let seconds = |apart: Duration| i64::try_from(apart.as_secs()).unwrap_or(0);
        let ahead = match server.duration_since(SystemTime::now()) {
            Ok(ahead) => seconds(ahead),
            Err(behind) => -seconds(behind.duration()),
        };
        tracing::warn!(seconds = ahead, "the server's clock differs from this machine's: signing by the server's");
        self.ahead.store(ahead, Ordering::Relaxed);
    }
}

async fn failed(response: Response<Incoming>) -> Failure {
    let (head, body) = response.into_parts();
    // A body that was cut says less; the status is known all the same.
    let body = Limited::new(body, ERROR_MAX).collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    Failure::of_answer(head.status.as_u16(), &head.headers, &body)
}
