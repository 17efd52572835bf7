//! The counts of a mount over HTTP, for Prometheus (`--metrics`). Only reads, and knows no secrets; who may connect may ask.

use super::served::Served;
use crate::failure::{Failure, Outcome};
use crate::metrics::prometheus;
use http_body_util::Full;
use hyper::body::{Body, Bytes};
use hyper::header::{ALLOW, CONTENT_TYPE};
use hyper::http::HeaderValue;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

/// Where the counts are.
const PATH: &str = "/metrics";
/// The most connections at once; more wait to be accepted.
const CONNECTIONS_MAX: usize = 16;
/// How long a request may take to arrive.
const HEADER_PATIENCE: Duration = Duration::from_secs(10);
/// How long a connection may last, whoever is slow.
const CONNECTION_PATIENCE: Duration = Duration::from_secs(30);

/// A place to listen at, taken before anything is mounted: what is wrong with it is found in time.
#[derive(Debug)]
pub(super) struct Exporter {
    listener: TcpListener,
    address: SocketAddr,
}

/// An exporter at work. Ends when dropped.
#[derive(Debug)]
pub(super) struct Exporting(AbortHandle);

impl Exporter {
    /// Listens at `wanted`.
    pub(super) async fn bind(wanted: SocketAddr) -> Outcome<Self> {
        let bound = async {
            let listener = TcpListener::bind(wanted).await?;
            let address = listener.local_addr()?;
            Ok::<_, std::io::Error>(Self { listener, address })
        };
        bound.await.map_err(|error| {
            let failure = Failure::because(format_args!("--metrics {wanted}"), &error);
            match error.kind() {
                std::io::ErrorKind::AddrInUse => failure
                    .advise("another program, or another mount, listens there; choose another port, or 0 for any"),
                std::io::ErrorKind::AddrNotAvailable => failure.advise("this machine has no such address"),
                _ => failure,
            }
        })
    }

    /// Where the counts are to be had.
    pub(super) fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Answers from now on.
    pub(super) fn serve(self, served: Arc<Served>) -> Exporting {
        Exporting(tokio::spawn(accept(self.listener, served)).abort_handle())
    }
}

impl Drop for Exporting {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn accept(listener: TcpListener, served: Arc<Served>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        // It is never closed.
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let served = Arc::clone(&served);
                tokio::spawn(async move {
                    if timeout(CONNECTION_PATIENCE, converse(stream, served)).await.is_err() {
                        tracing::debug!("a metrics connection took too long");
                    }
                    drop(place);
                });
            }
            Err(error) => {
                // Out of descriptors, most likely: that passes.
                tracing::warn!(%error, "metrics: accept failed");
                sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

async fn converse(stream: TcpStream, served: Arc<Served>) {
    let service = service_fn(move |request| {
        let answer = answer(&request, || prometheus::text(&served.snapshot()));
        async { Ok::<_, Infallible>(answer) }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_PATIENCE);
    if let Err(error) = http.serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%error, "metrics connection");
    }
}

/// The answer to a request, whatever it asks; hyper leaves the body out of that to HEAD.
fn answer<B: Body>(request: &Request<B>, metrics: impl FnOnce() -> String) -> Response<Full<Bytes>> {
    let text = |status: StatusCode, kind: &'static str, text: String| {
        let mut response = Response::new(Full::new(Bytes::from(text)));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        response
    };
    const PLAIN: &str = "text/plain; charset=utf-8";
    if request.uri().path() != PATH {
        return text(StatusCode::NOT_FOUND, PLAIN, format!("there is nothing here but {PATH}\n"));
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut response = text(StatusCode::METHOD_NOT_ALLOWED, PLAIN, "only GET and HEAD\n".into());
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    text(StatusCode::OK, prometheus::CONTENT_TYPE, metrics())
}

#[cfg(test)]
mod tests;
