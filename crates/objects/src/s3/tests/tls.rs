//! Connections with TLS that end without an answer.

use super::canned::{answer, error, is_whole};
use super::{client_at, quick};
use crate::ConnectOptions;
use crate::s3::{Condition, Headers, S3Bucket};
use rcgen::CertifiedKey;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// What becomes of one connection.
enum Connection {
    /// It is closed before the handshake, as by a balancer whose server is down.
    ClosedAtOnce,
    /// The request is read, and the connection closed without a word, as by a server that is killed.
    ClosedInsteadOfAnswer,
    /// The request gets this answer.
    Answered(Vec<u8>),
}

/// A server that does this with its connections, one after the other, and a client of it.
fn server(connections: Vec<Connection>) -> (S3Bucket, thread::JoinHandle<Vec<String>>) {
    let CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap())
        .unwrap();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let endpoint = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let config = Arc::new(config);
    let serving = thread::spawn(move || {
        let serve = |connection| serve(listener.accept().unwrap().0, connection, &config);
        connections.into_iter().filter_map(serve).collect()
    });
    let authority = tempfile::NamedTempFile::new().unwrap();
    authority.as_file().write_all(cert.pem().as_bytes()).unwrap();
    let ca_file = Some(authority.path().to_owned());
    (client_at(&endpoint, &ConnectOptions { ca_file, retry: quick(), ..ConnectOptions::default() }), serving)
}

/// What was asked on a connection, if anything was.
fn serve(mut socket: TcpStream, connection: Connection, config: &Arc<ServerConfig>) -> Option<String> {
    if matches!(connection, Connection::ClosedAtOnce) {
        // What was sent is read first: to close over it is to reset the connection.
        assert!(socket.read(&mut [0; 4096]).unwrap() > 0);
        return None;
    }
    let mut tls = StreamOwned::new(ServerConnection::new(Arc::clone(config)).unwrap(), socket);
    let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
    while !is_whole(&request) {
        let read = tls.read(&mut buffer).unwrap();
        request.extend_from_slice(&buffer[..read]);
    }
    if let Connection::Answered(answer) = connection {
        tls.write_all(&answer).unwrap();
        tls.conn.send_close_notify();
        tls.flush().unwrap();
    }
    Some(String::from_utf8_lossy(&request).into_owned())
}

#[tokio::test]
async fn a_put_whose_answer_was_lost_under_tls_is_found_to_be_our_own() {
    let ours = [("ETag", "\"e\""), ("x-amz-meta-stoaputid", "ours")];
    let (bucket, serving) = server(vec![
        Connection::ClosedInsteadOfAnswer,
        Connection::Answered(error(412, "PreconditionFailed")),
        Connection::Answered(answer(200, &ours, "")),
    ]);
    let put = bucket.put_marked("k", "x".into(), &Headers::default(), &Condition::IfAbsent, "ours").await;
    assert_eq!(put.unwrap().etag, "\"e\"");
    let asked = serving.join().unwrap();
    assert!(asked[2].starts_with("HEAD /bucket/k "), "{asked:?}");
}

#[tokio::test]
async fn a_handshake_that_is_cut_is_repeated_for_longer_than_what_a_person_mends() {
    let mut connections: Vec<_> = (0..20).map(|_| Connection::ClosedAtOnce).collect();
    connections.push(Connection::Answered(answer(200, &[("ETag", "\"e\"")], "")));
    let (bucket, serving) = server(connections);
    bucket.put("k", "x".into(), &Headers::default(), &Condition::None).await.unwrap();
    assert_eq!(serving.join().unwrap().len(), 1);
}
