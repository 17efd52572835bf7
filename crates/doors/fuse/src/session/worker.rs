//! The threads that read requests.

use super::buffer::{Buffer, HAND_OVER_BYTES_MIN};
use super::reply::Reply;
use super::{Alive, Device, Session, task};
use crate::errno::Failure;
use crate::ops::{self, Request, Step};
use bytes::Bytes;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use stoa_wire_fuse::{Header, Op, opcode};

/// Starts one. It ends with the mount.
pub(crate) fn spawn(number: usize, session: Arc<Session>, device: Device, alive: Alive) -> io::Result<()> {
    let worker = Worker { session, device: Arc::new(device), alive };
    thread::Builder::new().name(format!("stoa-fuse-{number}")).spawn(move || worker.run())?;
    Ok(())
}

struct Worker {
    session: Arc<Session>,
    device: Arc<Device>,
    alive: Alive,
}

impl Worker {
    fn run(&self) {
        // Futures are polled on this thread, and may use timers and spawn tasks.
        let _context = self.session.runtime.enter();
        let mut buffer = self.session.pool.take();
        loop {
            if let Err(error) = self.device.read(buffer.as_mut()) {
                match error.raw_os_error() {
                    // ENOENT: the request was taken back while it was read.
                    Some(libc::ENOENT | libc::EINTR | libc::EAGAIN) => continue,
                    Some(libc::ENODEV | libc::ECONNABORTED) => return,
                    _ => {
                        tracing::error!(%error, "reading from the FUSE device failed: this worker ends");
                        return;
                    }
                }
            }
            // A panic ends the request, whose reply is dropped and says so, and not the worker. Nothing of the worker is
            // left half changed: it only ever replaces its buffer.
            let handled = catch_unwind(AssertUnwindSafe(|| self.receive(&mut buffer)));
            if handled.is_err() {
                tracing::error!("a FUSE request panicked");
            }
        }
    }

    fn receive(&self, buffer: &mut Buffer) {
        let is_write = buffer.as_ref().get(4..8) == Some(&opcode::WRITE.to_ne_bytes());
        if is_write && buffer.as_ref().len() >= HAND_OVER_BYTES_MIN {
            let whole = std::mem::replace(buffer, self.session.pool.take()).freeze();
            self.handle(&whole, Some(&whole));
        } else {
            self.handle(buffer.as_ref(), None);
        }
    }

    fn handle(&self, bytes: &[u8], whole: Option<&Bytes>) {
        let (header, body) = match Header::parse(bytes) {
            Ok(parsed) => parsed,
            Err(error) => {
                tracing::error!(%error, "the kernel sent what is no request");
                return;
            }
        };
        let reply = || Reply::new(&self.session, &self.device, header);
        let op = match Op::parse(&header, body, self.session.agreement.dialect) {
            Ok(op) => op,
            Err(error) => {
                let op = opcode::name(header.opcode);
                tracing::error!(op, %error, "the kernel sent a request that can't be read");
                return reply().send(Err(Failure::Door(libc::EIO)));
            }
        };
        match op {
            Op::Forget { count } => self.session.vfs.forget(stoa_vfs::Ino(header.nodeid), count),
            Op::BatchForget(forgets) => {
                forgets.for_each(|(ino, count)| self.session.vfs.forget(stoa_vfs::Ino(ino), count));
            }
            Op::Interrupt { unique } => self.session.interrupts.interrupt(unique),
            op => {
                // Made first, so that it answers even if what follows panics.
                let reply = reply();
                match ops::start(Request { session: &self.session, header: &header, whole }, op) {
                    Step::Answer(outcome) => reply.send(outcome),
                    Step::Work(job) => task::drive(reply, job, &self.alive),
                }
            }
        }
    }
}
