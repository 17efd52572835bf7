//! A directory of a million objects, listed in bounded memory. Alone in its process, as that is what is measured.

#![allow(clippy::unwrap_used, reason = "the functions that only prepare a test, too")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use stoa_bucket::{Bucket, Options};
use stoa_objects::ConnectOptions;
use stoa_objects::testing::s3_bucket;
use stoa_vfs::{Cookie, Ino, Name, Vfs};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

const OBJECTS: u64 = 1_000_000;
const PAGE: u64 = 1000;
const MEMORY_BYTES_MAX: u64 = 32 << 20;

/// Answers listings of keys that nobody keeps.
async fn serve(listener: TcpListener, lists: Arc<AtomicU64>) {
    while let Ok((socket, _)) = listener.accept().await {
        let lists = Arc::clone(&lists);
        tokio::spawn(async move { drop(answer(socket, &lists).await) });
    }
}

async fn answer(socket: TcpStream, lists: &AtomicU64) -> std::io::Result<()> {
    let mut socket = BufReader::new(socket);
    loop {
        let mut request = String::new();
        if socket.read_line(&mut request).await? == 0 {
            return Ok(());
        }
        let mut header = String::new();
        while socket.read_line(&mut header).await? > 2 {
            header.clear();
        }
        lists.fetch_add(1, Ordering::Relaxed);
        let after = request.split("start-after=key-").nth(1).and_then(|rest| rest.get(..7)?.parse::<u64>().ok());
        let page = page(after.map_or(0, |after| after + 1));
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: {}\r\n\r\n", page.len());
        socket.write_all(head.as_bytes()).await?;
        socket.write_all(page.as_bytes()).await?;
    }
}

fn page(from: u64) -> String {
    let to = (from + PAGE).min(OBJECTS);
    let mut page = String::from("<ListBucketResult>");
    for n in from..to {
        page.push_str(&format!(
            "<Contents><Key>key-{n:07}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>&quot;{n:032x}&quot;</ETag>\
             <Size>{n}</Size></Contents>"
        ));
    }
    match to < OBJECTS {
        true => page.push_str("<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>"),
        false => page.push_str("<IsTruncated>false</IsTruncated>"),
    }
    page + "</ListBucketResult>"
}

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_million_objects_are_listed_in_bounded_memory() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let lists = Arc::new(AtomicU64::new(0));
    tokio::spawn(serve(listener, Arc::clone(&lists)));
    let connect = ConnectOptions { endpoint: Some(endpoint), ..ConnectOptions::default() };
    let s3 = s3_bucket("bucket", &connect, "key", "secret", None).unwrap();
    let options = Options { memory_bytes_max: MEMORY_BYTES_MAX, ttl: Duration::from_secs(3600), ..Options::default() };
    let files = Bucket::open(s3, "", &options).unwrap();

    let (mut seen, mut sizes, mut after, mut before) = (0, 0, Cookie::START, 0);
    loop {
        let page = files.readdir(Ino::ROOT, after, 500, true).await.unwrap();
        for entry in &page.entries {
            // A kernel under pressure forgets.
            files.forget(entry.ino, 1);
            sizes += entry.entry.as_ref().unwrap().attr.size;
        }
        seen += page.entries.len() as u64;
        if seen == 20 * PAGE {
            before = resident_bytes();
        }
        if page.end {
            break;
        }
        after = page.entries.last().unwrap().cookie;
    }
    let grown = resident_bytes().saturating_sub(before);
    assert_eq!((seen, sizes), (OBJECTS, OBJECTS * (OBJECTS - 1) / 2));
    assert_eq!(lists.load(Ordering::Relaxed), OBJECTS / PAGE);
    assert!(grown < MEMORY_BYTES_MAX, "{grown} bytes more than after 20 pages");
    // Its page is long gone, and costs one request.
    files.lookup(Ino::ROOT, &Name::new("key-0123456").unwrap()).await.unwrap();
    assert_eq!(lists.load(Ordering::Relaxed), OBJECTS / PAGE + 1);
}
