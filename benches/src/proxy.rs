//! A proxy before the S3 server: it counts what every client asks for, and can make the server far away.
//!
//! Lean, because it shares the processors with what is measured: only the heads of requests are read, bodies and responses
//! are spliced from socket to socket without being copied into this process.

mod counts;
mod head;
mod splice;

pub(crate) use counts::{Counts, Requests, Traffic};

use anyhow::{Context, Result};
use head::{Body, Head, Heads};
use splice::Pipe;
use std::io::Write;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use stoa_tests::command::note;

/// A proxy that runs until it is dropped; its connections end with those of the server or the client.
#[derive(Debug)]
pub(crate) struct Proxy {
    address: SocketAddr,
    counts: Arc<Counts>,
    ended: Arc<AtomicBool>,
}

impl Proxy {
    /// Starts one before `server`. Each request's first byte comes later by `latency`.
    pub(crate) fn start(server: SocketAddr, latency: Duration) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("a port for the proxy")?;
        let proxy = Self { address: listener.local_addr()?, counts: Arc::default(), ended: Arc::default() };
        let (counts, ended) = (Arc::clone(&proxy.counts), Arc::clone(&proxy.ended));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                let counts = Arc::clone(&counts);
                // A connection that can't be served is closed, which its client notices.
                let _ = connect(client, server, latency, counts);
            }
        });
        Ok(proxy)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What went through so far.
    pub(crate) fn traffic(&self) -> Traffic {
        self.counts.traffic()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // Wakes the listener, so that it sees the end.
        let _ = TcpStream::connect(self.address);
    }
}

/// Serves one connection by two threads: clients do not pipeline, so that the directions need not know of each other.
fn connect(client: TcpStream, server: SocketAddr, latency: Duration, counts: Arc<Counts>) -> Result<()> {
    let server = TcpStream::connect(server)?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (from_server, to_client, responses) = (server.try_clone()?, client.try_clone()?, Arc::clone(&counts));
    thread::spawn(move || {
        let _ = Pipe::new().and_then(|pipe| pipe.all(&from_server, &to_client, |len| responses.received(len)));
        let _ = to_client.shutdown(Shutdown::Both);
    });
    thread::spawn(move || {
        if let Err(error) = requests(&client, &server, latency, &counts) {
            note(&format!("proxy: {error:#}"));
        }
        let _ = server.shutdown(Shutdown::Both);
    });
    Ok(())
}

fn requests(client: &TcpStream, server: &TcpStream, latency: Duration, counts: &Counts) -> Result<()> {
    let pipe = Pipe::new()?;
    let mut heads = Heads::new(client);
    while let Some(Head { verb, body, bytes, start_of_body }) = heads.next()? {
        counts.request(verb);
        if !latency.is_zero() {
            thread::sleep(latency);
        }
        let Body::Length(len) = body else { anyhow::bail!("a chunked request, which this proxy can't follow") };
        // Whoever goes away in the middle of a request is no error of the proxy.
        let sent = (&*server).write_all(&bytes).and_then(|()| (&*server).write_all(&start_of_body));
        let rest = len.saturating_sub(start_of_body.len() as u64);
        if sent.is_err() || pipe.exactly(rest, client, server).is_err() {
            return Ok(());
        }
        counts.sent(bytes.len() as u64 + len);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
