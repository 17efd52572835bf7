use super::counts::Verb;
use super::head::{Body, Heads};
use super::{Proxy, Requests};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

#[test]
fn reads_heads_and_the_start_of_their_bodies() {
    let stream = b"PUT /b/k?x=1 HTTP/1.1\r\nHost: h\r\ncontent-LENGTH: 5\r\n\r\nhe".as_slice();
    let head = Heads::new(stream).next().unwrap().unwrap();
    assert_eq!((head.verb, head.body, head.start_of_body.as_slice()), (Verb::Put, Body::Length(5), b"he".as_slice()));
}

#[test]
fn tells_listing_from_getting() {
    for (target, verb) in [("/b?list-type=2", Verb::List), ("/b/?prefix=x", Verb::List), ("/b/k", Verb::Get)] {
        let request = format!("GET {target} HTTP/1.1\r\n\r\n");
        assert_eq!(Heads::new(request.as_bytes()).next().unwrap().unwrap().verb, verb, "{target}");
    }
}

#[test]
fn counts_delays_and_passes_on() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let latency = Duration::from_millis(30);
    let proxy = Proxy::start(server.local_addr().unwrap(), latency).unwrap();
    let mut client = TcpStream::connect(proxy.address()).unwrap();
    let (mut accepted, _) = server.accept().unwrap();
    let body = vec![7; 3 << 20];
    let head = b"PUT /b/k HTTP/1.1\r\nContent-Length: 3145728\r\n\r\n";
    let request_len = head.len() + body.len();
    let answer = std::thread::spawn(move || {
        for _ in 0..2 {
            let mut request = vec![0; request_len];
            accepted.read_exact(&mut request).unwrap();
            accepted.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").unwrap();
        }
    });
    let started = Instant::now();
    for _ in 0..2 {
        client.write_all(head).unwrap();
        client.write_all(&body).unwrap();
        let mut response = [0; 40];
        client.read_exact(&mut response).unwrap();
        assert!(response.ends_with(b"ok"));
    }
    answer.join().unwrap();
    assert!(started.elapsed() >= latency * 2);
    let traffic = proxy.traffic();
    assert_eq!(traffic.requests, Requests { put: 2, ..Requests::default() });
    assert_eq!((traffic.sent, traffic.received), (2 * request_len as u64, 80));
}
