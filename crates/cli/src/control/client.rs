//! The command's end of the control socket. Blocking: a command has nothing else to do.

use super::protocol::REPLY_BYTES_MAX;
use super::{Record, Registry, Reply, Request};
use crate::failure::{Failure, Outcome};
use crate::mounts;
use serde_json::Value;
use std::cell::LazyCell;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait for a line of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wait {
    /// For a question whose answer is at hand.
    Briefly,
    /// For work that sends progress while it goes on.
    WhileAlive,
    /// For such work, but not for ever.
    AtMost(Duration),
}

impl Wait {
    fn limit(self) -> Duration {
        match self {
            Self::Briefly => Duration::from_secs(5),
            Self::AtMost(limit) => limit,
            // Several heartbeats: a machine that swaps may miss one.
            Self::WhileAlive => Duration::from_secs(60),
        }
    }
}

/// A live mount for which `wanted` says so: the youngest, as an older one at the same place may still be closing.
pub(crate) fn find(wanted: impl Fn(&Record) -> bool) -> Option<(Record, PathBuf)> {
    all().into_iter().rev().find(|(record, _)| wanted(record))
}

/// All live mounts that this user may ask, oldest first within each user's. Of other users' mounts, those that the kernel knows as theirs:
/// what they write down may say anything.
pub(crate) fn all() -> Vec<(Record, PathBuf)> {
    // A table that can't be read vouches for nobody.
    let mounted = LazyCell::new(|| mounts::stoa().unwrap_or_default());
    let is_theirs = |record: &Record| {
        mounted.iter().any(|mount| mount.mountpoint == Path::new(&record.mountpoint) && mount.owner == Some(record.uid))
    };
    let listed = Registry::readable().into_iter().flat_map(|registry| registry.list());
    listed.filter(|(record, _)| record.is_own() || is_theirs(record)).collect()
}

/// A connection to the socket of a mount. It must be that user's who made the mount.
fn connect(record: &Record, socket: &Path) -> io::Result<UnixStream> {
    let stream = UnixStream::connect(socket)?;
    if rustix::net::sockopt::socket_peercred(&stream)?.uid.as_raw() == record.uid {
        Ok(stream)
    } else {
        Err(io::Error::new(io::ErrorKind::PermissionDenied, "its control socket is another user's"))
    }
}

/// A connection to the process of a mount, with a request under way.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: BufReader<UnixStream>,
    of: String,
    log: Option<String>,
    deadline: Option<Instant>,
}

impl Connection {
    /// Connects to the mount that `record` describes and sends `request`.
    pub(crate) fn open(record: &Record, socket: &Path, request: &Request, wait: Wait) -> Outcome<Self> {
        let of = format!("the mount of {} (pid {})", record.mountpoint, record.pid);
        let opened = (|| {
            let mut stream = connect(record, socket)?;
            stream.set_read_timeout(Some(wait.limit()))?;
            stream.set_write_timeout(Some(Wait::Briefly.limit()))?;
            let mut line = serde_json::to_vec(request)?;
            line.push(b'\n');
            stream.write_all(&line)?;
            Ok::<_, io::Error>(BufReader::new(stream))
        })();
        match opened {
            Ok(stream) => {
                let deadline = match wait {
                    Wait::AtMost(limit) => Some(Instant::now() + limit),
                    Wait::Briefly | Wait::WhileAlive => None,
                };
                Ok(Self { stream, of, log: record.log.clone(), deadline })
            }
            Err(error) => Err(Failure::because(format_args!("{of} can't be asked"), &error)),
        }
    }

    /// Waits for the result, passing progress to `heard` (stage, done, total).
    pub(crate) fn result(self, heard: impl FnMut(&str, u64, u64)) -> Outcome<Value> {
        let of = self.of.clone();
        self.answer(heard)?.map_err(|why| Failure::new(format!("{of} says: {why}")))
    }

    /// The same, but tells what the mount said of its own failure apart from the failure of asking it.
    pub(crate) fn answer(mut self, mut heard: impl FnMut(&str, u64, u64)) -> Outcome<Result<Value, String>> {
        loop {
            match self.next()? {
                Reply::Progress { stage, done, total } => heard(&stage, done, total),
                Reply::Done(value) => return Ok(Ok(value)),
                Reply::Failed(why) => return Ok(Err(why)),
            }
        }
    }

    pub(super) fn next(&mut self) -> Outcome<Reply> {
        if self.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            return Err(Failure::new(format!("{} needs longer", self.of)));
        }
        let mut line = String::new();
        match (&mut self.stream).take(REPLY_BYTES_MAX).read_line(&mut line) {
            Ok(0) => Err(self.ended()),
            // It ended before it had read the request.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Err(self.ended()),
            Ok(_) => serde_json::from_str(&line).map_err(|error| {
                Failure::because(format_args!("{} answers in a way that is not understood", self.of), &error)
            }),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                Err(Failure::new(format!("{} does not answer", self.of)))
            }
            Err(error) => Err(Failure::because(&self.of, &error)),
        }
    }

    fn ended(&self) -> Failure {
        let log = self.log.as_deref().unwrap_or("where its standard error went");
        Failure::new(format!("{} ended before it answered", self.of)).advise(format!("its log says why: {log}"))
    }
}
