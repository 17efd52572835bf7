//! A limit on the time a test takes.

use crate::command::note;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a test has to end after its servers were killed, before the whole process is.
const GRACE: Duration = Duration::from_secs(30);

/// Kills the servers of a test whose time is over.
///
/// A test that hangs does so in a system call on a mount; with the server gone that call fails, the test ends with an
/// error and cleans up. If even that does not happen the process is aborted: a hung suite says nothing.
#[derive(Debug, Clone)]
pub struct Watch(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    servers: Vec<u32>,
    expired: bool,
    done: bool,
}

impl Watch {
    /// Starts the clock for `test`.
    pub fn start(test: &str, limit: Duration) -> Self {
        let shared = Arc::new(Shared::default());
        let (watched, test) = (Arc::clone(&shared), test.to_owned());
        std::thread::spawn(move || watched.wait(&test, limit));
        Self(shared)
    }

    /// Adds a process to kill when the time is over.
    pub(crate) fn add(&self, pid: u32) {
        self.0.state.lock().servers.push(pid);
    }

    /// Takes a process off the list, once it was reaped and its number may be another's.
    pub(crate) fn remove(&self, pid: u32) {
        self.0.state.lock().servers.retain(|&server| server != pid);
    }

    /// Whether the time is over.
    #[must_use]
    pub fn expired(&self) -> bool {
        self.0.state.lock().expired
    }

    /// Stops the clock.
    pub fn stop(&self) {
        self.0.stop();
    }

    /// Stops the clock when the result is dropped: also by a panic, as the clock would end the whole process.
    pub(crate) fn stopped_at_the_end(&self) -> Stop<'_> {
        Stop(&self.0)
    }
}

/// Stops a clock.
#[derive(Debug)]
pub(crate) struct Stop<'w>(&'w Shared);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Shared {
    fn stop(&self) {
        self.state.lock().done = true;
        self.changed.notify_all();
    }

    fn wait(&self, test: &str, limit: Duration) {
        if self.done_within(limit) {
            return;
        }
        note(&format!("{test}: over its limit of {} s; killing its servers", limit.as_secs()));
        let mut state = self.state.lock();
        state.expired = true;
        for &pid in &state.servers {
            kill(pid);
        }
        drop(state);
        if !self.done_within(GRACE) {
            note(&format!("{test}: hangs although its servers are gone; aborting"));
            std::process::abort();
        }
    }

    fn done_within(&self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        let mut state = self.state.lock();
        while !state.done {
            if self.changed.wait_until(&mut state, end).timed_out() {
                return state.done;
            }
        }
        true
    }
}

/// Sends SIGKILL; a process that is gone already is fine.
pub(crate) fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}
