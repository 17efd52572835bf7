//! The duty to answer a request.

use super::answer::{Outcome, Payload};
use super::{Device, Session};
use std::sync::Arc;
use std::time::Instant;
use stoa_wire_fuse::{Header, opcode};

/// The duty to answer one request. Dropped without an answer (a handler panicked, or the runtime is gone) it answers `EIO`, so
/// that no caller waits for ever.
pub(crate) struct Reply {
    session: Arc<Session>,
    device: Arc<Device>,
    header: Header,
    since: Instant,
    answered: bool,
}

impl Reply {
    pub(crate) fn new(session: &Arc<Session>, device: &Arc<Device>, header: Header) -> Self {
        Self {
            session: Arc::clone(session),
            device: Arc::clone(device),
            header,
            since: Instant::now(),
            answered: false,
        }
    }

    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    pub(crate) fn unique(&self) -> u64 {
        self.header.unique
    }

    /// The thread that asks.
    pub(crate) fn thread(&self) -> u32 {
        self.header.pid
    }

    /// Answers. What the answer hands over is given back if nobody is there to take it.
    pub(crate) fn send(mut self, outcome: Outcome) {
        self.answered = true;
        match outcome {
            Ok(answer) => {
                if !self.write(0, &answer.payload) {
                    answer.taken.give_back(&self.session);
                }
            }
            Err(failure) => {
                self.write(failure.errno(&self.header), &Payload::Empty);
            }
        }
    }

    fn write(&self, errno: i32, payload: &Payload) -> bool {
        // Before the answer: who got it may look at the counters.
        self.session.stats.answered(self.header.opcode, errno != 0, self.since.elapsed());
        match self.device.answer(self.header.unique, errno, payload) {
            Ok(()) => true,
            // The caller was killed, or the mount is gone.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENODEV | libc::ECONNABORTED)) => {
                false
            }
            Err(error) => {
                let op = opcode::name(self.header.opcode);
                tracing::error!(op, ino = self.header.nodeid, %error, "the kernel refused an answer");
                false
            }
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if !self.answered {
            let op = opcode::name(self.header.opcode);
            tracing::error!(
                op,
                ino = self.header.nodeid,
                "a request was given up: its handler panicked or the runtime ended"
            );
            self.write(libc::EIO, &Payload::Empty);
        }
    }
}
