//! A server that gives prepared answers, one after the other, and keeps what it was asked.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub(super) struct Canned {
    pub(super) endpoint: String,
    shared: Arc<Mutex<Shared>>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    answers: VecDeque<Vec<u8>>,
    asked: Vec<String>,
}

impl Drop for Canned {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Canned {
    /// A server with these answers. When they are used up, it closes connections without one.
    pub(super) async fn start(answers: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Mutex::new(Shared { answers: answers.into_iter().collect(), asked: Vec::new() }));
        let serving = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                serve(socket, &serving).await;
            }
        });
        Self { endpoint, shared, task }
    }

    /// What was asked, heads and bodies.
    pub(super) fn asked(&self) -> Vec<String> {
        self.shared.lock().asked.clone()
    }

    pub(super) fn answers_left(&self) -> usize {
        self.shared.lock().answers.len()
    }
}

async fn serve(mut socket: TcpStream, shared: &Mutex<Shared>) {
    let mut request = Vec::new();
    while !is_whole(&request) {
        if socket.read_buf(&mut request).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let answer = {
        let mut shared = shared.lock();
        shared.asked.push(String::from_utf8_lossy(&request).into_owned());
        shared.answers.pop_front()
    };
    // What can't be written is what the test is about, or it will fail.
    let _ = socket.write_all(&answer.unwrap_or_default()).await;
    let _ = socket.shutdown().await;
}

pub(super) fn is_whole(request: &[u8]) -> bool {
    // A TLS handshake: it gets its answer in plain text.
    if request.first() == Some(&0x16) {
        return true;
    }
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.split_once("content-length: ").map_or("0", |(_, rest)| rest.lines().next().unwrap());
    body.len() >= length.parse().unwrap()
}

/// An answer. Its length is said, and the connection is closed after it.
pub(super) fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    promising(status, headers, body, body.len())
}

/// An answer that promises a body of another length than it has.
pub(super) fn promising(status: u16, headers: &[(&str, &str)], body: &str, length: usize) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status} Whatever\r\nConnection: close\r\nContent-Length: {length}\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.push_str(body);
    text.into_bytes()
}

pub(super) fn error(status: u16, code: &str) -> Vec<u8> {
    answer(status, &[], &format!("<Error><Code>{code}</Code><Message>canned</Message></Error>"))
}
