//! Carrying a request to its answer.

use super::reply::Reply;
use super::{Alive, Outcome, Session};
use crate::errno::Failure;
use crate::ops::{Job, Patience};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::sync::oneshot;

/// How long a caller that is to end may wait for its answer, after another signal woke it.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// A request under way.
pub(crate) type Work = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// Polls `job` once, here. If it is ready it is answered by this thread, which saves a task and a change of threads;
/// otherwise it goes on in the runtime.
///
/// The first poll has no waker: the runtime polls the future again as soon as it has it, and gives it its own.
pub(crate) fn drive(reply: Reply, job: Job, alive: &Alive) {
    let Job { mut work, patience } = job;
    match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => reply.send(outcome),
        Poll::Pending => spawn(reply, work, patience, alive.clone()),
    }
}

fn spawn(reply: Reply, work: Work, patience: Patience, alive: Alive) {
    let session = Arc::clone(reply.session());
    let unique = reply.unique();
    let interrupted = match patience {
        Patience::ToTheEnd => None,
        Patience::Interruptible => Some(session.interrupts.wait(unique)),
    };
    let waiting = Waiting::new(Arc::clone(&session), unique);
    session.runtime.spawn(async move {
        match interrupted {
            None => reply.send(work.await),
            Some(interrupted) => interruptible(reply, work, interrupted).await,
        }
        drop(waiting);
        drop(alive);
    });
}

/// Answers `EINTR` when the caller is to end first. The work still goes to its end, because what it takes from the store
/// (a reference, a handle) has to be given back.
async fn interruptible(reply: Reply, mut work: Work, interrupted: oneshot::Receiver<()>) {
    let session = Arc::clone(reply.session());
    let thread = reply.thread();
    tokio::select! {
        biased;
        outcome = &mut work => reply.send(outcome),
        () = given_up(thread, interrupted) => {
            reply.send(Err(Failure::INTERRUPTED));
            if let Ok(answer) = work.await {
                answer.taken.give_back(&session);
            }
        }
    }
}

/// Waits until the caller, whose thread is `thread`, is to end. The kernel tells of any signal, and only of the first: also when the
/// program is stopped, when the machine goes to sleep, and when a program hears of its children. No call on a local disk fails
/// because of those, so that programs do not expect it.
async fn given_up(thread: u32, interrupted: oneshot::Receiver<()>) {
    if interrupted.await.is_err() {
        return std::future::pending().await;
    }
    // Of a caller that can't be looked at, a signal is all that is known.
    while stoa_process::is_to_end(thread) == Some(false) {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Counts a request as waiting for as long as it lives.
struct Waiting {
    session: Arc<Session>,
    unique: u64,
}

impl Waiting {
    fn new(session: Arc<Session>, unique: u64) -> Self {
        session.stats.waits();
        Self { session, unique }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.session.interrupts.done(self.unique);
        self.session.stats.waited();
    }
}
