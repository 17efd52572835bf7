//! Going into the background, and telling the process that stays in front how it went.

use super::Announcement;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Meter};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::os::fd::AsRawFd;
use std::sync::Mutex;
use std::time::Duration;

/// What the process in the background says, a line of JSON each.
#[derive(Debug, Serialize, Deserialize)]
enum Word {
    /// It is doing this.
    Stage(String),
    /// The mount answers.
    Ready(Box<Announcement>),
    /// There will be no mount.
    Failed(Failure),
}

/// The two processes after [`background`].
#[derive(Debug)]
pub(crate) enum Side {
    /// The one in front.
    Front(Front),
    /// The one in the background.
    Back(Readiness),
}

/// How the process that serves a mount tells how it goes.
#[derive(Debug)]
pub(crate) enum Readiness {
    /// It has the terminal itself.
    Foreground,
    /// Through a pipe, until the mount answers.
    Pipe(Mutex<PipeWriter>),
}

/// Forks. The one in the background has no terminal, and nothing of its environment can be unmounted or closed under it.
///
/// To be called before any thread exists: a fork takes only the calling thread along, and with it no lock another one holds.
pub(crate) fn background() -> Outcome<Side> {
    let fail = |error: io::Error| Failure::because("can't go into the background", &error);
    let (from, to) = io::pipe().map_err(fail)?;
    let nothing = File::options().read(true).write(true).open("/dev/null").map_err(fail)?;
    // SAFETY: no other thread exists (see above), so the child may go on as any process may.
    match unsafe { libc::fork() } {
        -1 => Err(fail(io::Error::last_os_error())),
        0 => {
            drop(from);
            // SAFETY: setsid and dup2 touch no memory; the descriptors are open.
            unsafe {
                libc::setsid();
                for stream in 0..=2 {
                    libc::dup2(nothing.as_raw_fd(), stream);
                }
            }
            std::env::set_current_dir("/").map_err(fail)?;
            Ok(Side::Back(Readiness::Pipe(Mutex::new(to))))
        }
        child => Ok(Side::Front(Front { words: BufReader::new(from), child })),
    }
}

impl Readiness {
    /// Says what is being done.
    pub(crate) fn stage(&self, text: &str) {
        // Whoever waited may be gone; `abandoned` finds out.
        let _ = self.say(&Word::Stage(text.to_owned()));
    }

    /// Says that the mount answers. `false` if nobody heard it.
    pub(crate) fn ready(&self, announcement: &Announcement, json: bool) -> bool {
        match self {
            Self::Foreground => {
                announcement.print(json);
                true
            }
            Self::Pipe(_) => self.say(&Word::Ready(Box::new(announcement.clone()))).is_ok(),
        }
    }

    /// Says why there will be no mount.
    pub(crate) fn failed(&self, failure: &Failure) {
        let _ = self.say(&Word::Failed(failure.clone()));
    }

    /// Returns once nobody waits for the mount any more, as after ^C: there is no point then in going on to make it.
    pub(crate) async fn abandoned(&self) {
        loop {
            tokio::time::sleep(Duration::from_millis(300)).await;
            if self.is_deaf() {
                return;
            }
        }
    }

    fn is_deaf(&self) -> bool {
        let Self::Pipe(pipe) = self else {
            return false;
        };
        let Ok(pipe) = pipe.lock() else {
            return true;
        };
        let mut poll = libc::pollfd { fd: pipe.as_raw_fd(), events: 0, revents: 0 };
        // SAFETY: one valid pollfd, and no waiting.
        let count = unsafe { libc::poll(&raw mut poll, 1, 0) };
        count == 1 && poll.revents & libc::POLLERR != 0
    }

    fn say(&self, word: &Word) -> io::Result<()> {
        let Self::Pipe(pipe) = self else {
            return Ok(());
        };
        let mut line = serde_json::to_vec(word)?;
        line.push(b'\n');
        let mut pipe = pipe.lock().map_err(|_| io::Error::other("poisoned"))?;
        pipe.write_all(&line)
    }
}

/// The process in front, waiting for the one in the background.
#[derive(Debug)]
pub(crate) struct Front {
    words: BufReader<PipeReader>,
    child: libc::pid_t,
}

impl Front {
    /// Waits until the mount answers, or is known never to.
    pub(crate) fn wait(mut self) -> Outcome<Announcement> {
        let meter = Meter::new("starting");
        let mut line = String::new();
        while matches!(self.words.read_line(&mut line), Ok(length) if length > 0) {
            match serde_json::from_str(&line) {
                Ok(Word::Stage(text)) => meter.show(&text, 0, 0),
                Ok(Word::Ready(announcement)) => return Ok(*announcement),
                Ok(Word::Failed(failure)) => return Err(failure),
                Err(error) => output::note(format_args!("stoa: unreadable word from the background: {error}")),
            }
            line.clear();
        }
        Err(Failure::new(format!("the process that was to serve the mount {}", self.fate()))
            .advise("--foreground shows what it does"))
    }

    /// How the child ended.
    fn fate(&self) -> String {
        let mut status = 0;
        // SAFETY: `status` is a valid place to write to.
        let found = unsafe { libc::waitpid(self.child, &raw mut status, 0) };
        if found != self.child {
            "went away".into()
        } else if libc::WIFSIGNALED(status) {
            format!("was killed by signal {}", libc::WTERMSIG(status))
        } else {
            format!("ended with code {}", libc::WEXITSTATUS(status))
        }
    }
}
