//! The two ends against each other, with a fake in place of a volume.

use super::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::UnixListener;

/// Answers by repeating the question; `Gc` never ends, though it tells of progress, and says when it was dropped.
#[derive(Default)]
struct Fake {
    dropped: Arc<AtomicBool>,
}

struct OnDrop(Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Answers for Fake {
    async fn answer(&self, request: Request, steps: &Steps) -> Result<Value, String> {
        match request {
            Request::Sync => Err("the store is away".into()),
            Request::Gc => {
                let _guard = OnDrop(Arc::clone(&self.dropped));
                loop {
                    steps.report("collecting", 1, 0);
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
            Request::Fsck { .. } => {
                for done in 1..=3 {
                    steps.report("checking", done, 3);
                    tokio::time::sleep(Duration::from_millis(150)).await;
                }
                Ok(json!({ "problems": [] }))
            }
            other => Ok(json!({ "asked": other })),
        }
    }
}

struct Served {
    _dir: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
    stop: tokio::sync::oneshot::Sender<()>,
    socket: PathBuf,
    dropped: Arc<AtomicBool>,
}

fn served() -> Served {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("control");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let fake = Fake::default();
    let dropped = Arc::clone(&fake.dropped);
    let listener = {
        let _inside = runtime.enter();
        UnixListener::bind(&socket).unwrap()
    };
    let (stop, stopped) = tokio::sync::oneshot::channel();
    runtime.spawn(serve(listener, registry::uid(), Arc::new(fake), stopped));
    Served { _dir: dir, runtime, stop, socket, dropped }
}

fn record() -> Record {
    Record {
        mountpoint: "/mnt/files".into(),
        store: "/srv/store".into(),
        endpoint: None,
        pid: 7,
        pid_started: 1,
        uid: registry::uid(),
        started: String::new(),
        read_only: false,
        log: None,
        metrics: None,
    }
}

fn ask(socket: &Path, request: &Request) -> Result<Value, String> {
    let connection =
        Connection::open(&record(), socket, request, Wait::Briefly).map_err(|error| error.what().to_owned())?;
    connection.result(|_, _, _| {}).map_err(|error| error.what().to_owned())
}

#[test]
fn every_request_arrives_as_it_was_sent() {
    let served = served();
    for request in [Request::Status, Request::Info { ino: u64::MAX }, Request::ShutdownWait] {
        assert_eq!(ask(&served.socket, &request), Ok(json!({ "asked": request })));
    }
}

#[test]
fn progress_comes_in_order_before_the_result() {
    let served = served();
    let request = Request::Fsck { data: true, repair: false };
    let mut heard = Vec::new();
    let connection = Connection::open(&record(), &served.socket, &request, Wait::WhileAlive).unwrap();
    let result = connection.result(|stage, done, total| heard.push((stage.to_owned(), done, total))).unwrap();
    assert_eq!(result, json!({ "problems": [] }));
    assert_eq!(heard.last(), Some(&("checking".to_owned(), 3, 3)));
    assert!(heard.len() >= 2 && heard.is_sorted_by_key(|(_, done, _)| *done), "{heard:?}");
}

#[test]
fn patience_that_has_a_limit_ends_though_progress_goes_on() {
    let served = served();
    // Long enough that a busy machine does not make a gap in the progress that is taken for silence.
    let wait = Wait::AtMost(Duration::from_secs(2));
    let connection = Connection::open(&record(), &served.socket, &Request::Gc, wait).unwrap();
    let mut heard = 0;
    let error = connection.result(|_, _, _| heard += 1).unwrap_err();
    assert!(heard > 1, "heard {heard}");
    assert_eq!(error.what(), "the mount of /mnt/files (pid 7) needs longer");
}

#[test]
fn a_failure_says_which_mount_and_why() {
    let served = served();
    let error = ask(&served.socket, &Request::Sync).unwrap_err();
    assert_eq!(error, "the mount of /mnt/files (pid 7) says: the store is away");
}

#[test]
fn work_is_dropped_when_whoever_asked_goes_away() {
    let served = served();
    let mut connection = Connection::open(&record(), &served.socket, &Request::Gc, Wait::Briefly).unwrap();
    let reply = connection.next().unwrap();
    assert_eq!(reply, Reply::Progress { stage: "collecting".into(), done: 1, total: 0 });
    assert!(!served.dropped.load(Ordering::SeqCst));
    drop(connection);
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while !served.dropped.load(Ordering::SeqCst) {
        assert!(std::time::Instant::now() < deadline, "the work goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn nonsense_and_endless_requests_are_refused() {
    use std::io::{Read, Write};
    let served = served();
    let just_too_long = "x".repeat(usize::try_from(protocol::REQUEST_BYTES_MAX).unwrap());
    for sent in ["{\"op\":\"explode\"}\n", "\n", &just_too_long] {
        let mut stream = std::os::unix::net::UnixStream::connect(&served.socket).unwrap();
        stream.write_all(sent.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains("request not understood"), "{answer}");
    }
    assert!(ask(&served.socket, &Request::Status).is_ok());
}

#[test]
fn an_answer_under_way_is_given_before_the_end() {
    let Served { _dir, runtime, stop, socket, .. } = served();
    let request = Request::Fsck { data: false, repair: false };
    let connection = Connection::open(&record(), &socket, &request, Wait::WhileAlive).unwrap();
    let mut stop = Some(stop);
    let result = connection.result(|_, _, _| {
        // The first step has been heard: the work is under way.
        if let Some(stop) = stop.take() {
            stop.send(()).unwrap();
        }
    });
    assert_eq!(result.unwrap(), json!({ "problems": [] }));
    runtime.shutdown_timeout(Duration::from_secs(5));
}

#[test]
fn a_mount_that_ended_is_said_to_have() {
    let served = served();
    let connection = Connection::open(&record(), &served.socket, &Request::Gc, Wait::WhileAlive).unwrap();
    let Served { _dir, runtime, socket, .. } = served;
    runtime.shutdown_timeout(Duration::from_secs(5));
    let error = connection.result(|_, _, _| {}).unwrap_err();
    assert!(error.what().contains("ended before it answered"), "{error:?}");
    let error = ask(&socket, &Request::Status).unwrap_err();
    assert!(error.contains("can't be asked"), "{error}");
}

#[tokio::test]
async fn who_asked_before_the_end_is_answered_after_it() {
    use std::io::{BufRead, Write};

    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("control");
    let listener = UnixListener::bind(&socket).unwrap();
    let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    let mut line = serde_json::to_vec(&Request::Status).unwrap();
    line.push(b'\n');
    stream.write_all(&line).unwrap();
    // Nobody has accepted it when the mount ends.
    let (stop, stopped) = tokio::sync::oneshot::channel();
    stop.send(()).unwrap();
    serve(listener, registry::uid(), Arc::new(Fake::default()), stopped).await;
    let mut answer = String::new();
    std::io::BufReader::new(stream).read_line(&mut answer).unwrap();
    assert!(answer.contains("asked"), "{answer:?}");
}
