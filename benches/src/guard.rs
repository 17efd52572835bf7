//! Nothing is left behind, and nothing hangs for ever: what this process started and mounted is written down here, and
//! taken away when a row takes too long, at Ctrl-C, and at the end.

use anyhow::{Result, ensure};
use parking_lot::Mutex;
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Pid, Signal, kill_process_group};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use stoa_tests::command::note;
use tokio::signal::unix::{SignalKind, signal};

/// How long a row has to end after its servers were killed, before the whole run is given up.
const GRACE: Duration = Duration::from_secs(60);
/// How long that what was killed may keep its files from being removed.
const REMOVAL_LIMIT: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(100);

static STATE: Mutex<State> = Mutex::new(State::new());

#[derive(Debug)]
struct State {
    servers: Vec<u32>,
    mounts: Vec<PathBuf>,
    scratch: Option<PathBuf>,
    deadline: Option<Instant>,
    expired: bool,
}

impl State {
    const fn new() -> Self {
        Self { servers: Vec::new(), mounts: Vec::new(), scratch: None, deadline: None, expired: false }
    }

    /// With a server gone every call under way on its mount fails, and whoever waits for it goes on.
    fn kill_servers(&self) {
        for &server in &self.servers {
            kill(server);
        }
    }

    fn clean_up(&self) {
        for dir in &self.mounts {
            detach(dir);
        }
        self.kill_servers();
        if let Some(scratch) = &self.scratch {
            remove(scratch);
        }
    }
}

/// Watches deadlines and signals from now on. `scratch` goes when the process is ended by either.
pub(crate) fn start(scratch: &Path) -> Result<()> {
    STATE.lock().scratch = Some(scratch.to_owned());
    thread::spawn(watch_deadline);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let entered = runtime.enter();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    drop(entered);
    thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {}, _ = hangup.recv() => {} }
        });
        give_up("interrupted: unmounting and removing everything");
    });
    Ok(())
}

/// Gives whatever comes next this long.
pub(crate) fn allow(limit: Duration) {
    let mut state = STATE.lock();
    state.deadline = Some(Instant::now() + limit);
    state.expired = false;
}

/// Fails once the time is over: an error that came of killed servers is better told so.
pub(crate) fn in_time() -> Result<()> {
    ensure!(!STATE.lock().expired, "over its limit of time");
    Ok(())
}

pub(crate) fn add_server(pid: u32) {
    STATE.lock().servers.push(pid);
}

/// Once it was reaped its number may be another's.
pub(crate) fn remove_server(pid: u32) {
    STATE.lock().servers.retain(|&server| server != pid);
}

pub(crate) fn add_mount(dir: &Path) {
    STATE.lock().mounts.push(dir.to_owned());
}

pub(crate) fn remove_mount(dir: &Path) {
    STATE.lock().mounts.retain(|mount| mount != dir);
}

/// Kills a server, which leads its process group, with everything that it started.
pub(crate) fn kill(pid: u32) {
    if let Some(group) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // One that is gone already is fine.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Takes a mount out of the tree, dead or alive, busy or not.
pub(crate) fn detach(dir: &Path) {
    // It fails if nothing is mounted there, which is what is wanted.
    let _ = unmount(dir, UnmountFlags::DETACH);
}

/// Removes a directory in which something may still be written by what is just being killed.
fn remove(dir: &Path) {
    let end = Instant::now() + REMOVAL_LIMIT;
    while std::fs::remove_dir_all(dir).is_err() && dir.exists() && Instant::now() < end {
        thread::sleep(TICK);
    }
}

fn watch_deadline() {
    loop {
        thread::sleep(TICK);
        let mut state = STATE.lock();
        let now = Instant::now();
        if state.expired && state.deadline.is_some_and(|deadline| now > deadline + GRACE) {
            drop(state);
            give_up("hangs although its servers are gone: giving up the run");
        } else if !state.expired && state.deadline.is_some_and(|deadline| now > deadline) {
            state.expired = true;
            state.kill_servers();
        }
    }
}

fn give_up(why: &str) {
    note(why);
    // Without waiting for the lock for ever: whoever holds it may be what hangs.
    let state = STATE.try_lock_for(Duration::from_secs(5));
    if let Some(state) = &state {
        state.clean_up();
    }
    // Still locked: nobody starts or mounts anything in between.
    std::process::exit(130);
}
