//! HTTP, and the faults that lie there.

use super::faults::{S3Fault, S3Faults};
use bytes::Bytes;
use futures::{StreamExt, stream};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use s3s::service::S3Service;
use s3s::{Body, HttpError};
use std::io;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Serves until it is dropped, and with it every connection.
pub(super) async fn serve(listener: TcpListener, service: S3Service, faults: S3Faults) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((socket, _)) = listener.accept().await else {
            return;
        };
        // A small answer must not wait for the acknowledgement of the one before.
        let _ = socket.set_nodelay(true);
        let (service, faults) = (service.clone(), faults.clone());
        connections.spawn(async move {
            let answer = service_fn(move |request| answer(service.clone(), faults.clone(), request));
            // It ends with the connection; a fault ends it with an error, on purpose.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(socket), answer).await;
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn answer(service: S3Service, faults: S3Faults, request: Request<Incoming>) -> Result<Response<Body>, HttpError> {
    let target = request.uri().path_and_query().map_or("", |target| target.as_str());
    let pays = request.headers().get("x-amz-request-payer").is_some_and(|value| value == "requester");
    let fault = faults.take(request.method().as_str(), target, pays);
    match fault {
        Some(S3Fault::Status(status)) => {
            read_away(request).await;
            return Ok(error(status));
        }
        Some(S3Fault::OkWithError) => {
            read_away(request).await;
            return Ok(error(200));
        }
        Some(S3Fault::Drop) => return Err(dropped()),
        Some(S3Fault::Delay(delay)) => tokio::time::sleep(delay).await,
        _ => {}
    }
    let response = service.call(request.map(Body::from)).await?;
    match fault {
        Some(S3Fault::StatusAfter(status)) => Ok(error(status)),
        Some(S3Fault::DropAfter) => Err(dropped()),
        Some(S3Fault::CutBody) => cut(response).await,
        _ => Ok(response),
    }
}

/// Reads a request's body, so that the client gets to the answer.
async fn read_away(request: Request<Incoming>) {
    let mut body = request.into_body();
    while let Some(Ok(_)) = body.frame().await {}
}

fn dropped() -> HttpError {
    HttpError::new(Box::new(io::Error::new(io::ErrorKind::ConnectionReset, "injected: dropped")))
}

fn error(status: u16) -> Response<Body> {
    let code = match status {
        503 => "SlowDown",
        429 => "TooManyRequests",
        403 => "AccessDenied",
        301 => "PermanentRedirect",
        501 => "NotImplemented",
        _ => "InternalError",
    };
    let text = format!("<?xml version=\"1.0\"?>\n  <Error><Code>{code}</Code><Message>injected</Message></Error>");
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
}

/// The first half of the body, and then the connection breaks; the header promises all of it.
async fn cut(response: Response<Body>) -> Result<Response<Body>, HttpError> {
    let (parts, body) = response.into_parts();
    let bytes = BodyExt::collect(body).await.map_err(HttpError::new)?.to_bytes();
    let half = bytes.slice(..bytes.len() / 2);
    let frames = stream::once(async move { Ok::<Frame<Bytes>, io::Error>(Frame::data(half)) });
    let broken = stream::once(async { Err(io::Error::new(io::ErrorKind::ConnectionReset, "injected: cut")) });
    Ok(Response::from_parts(parts, Body::http_body_unsync(StreamBody::new(frames.chain(broken)))))
}
