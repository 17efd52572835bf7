//! What an operation comes to.

use super::Session;
use crate::errno::Failure;
use bytes::Bytes;
use std::sync::Arc;
use stoa_vfs::{Handle, Ino};
use stoa_wire_fuse::reply::Body;

/// What an operation comes to.
pub(crate) type Outcome = Result<Answer, Failure>;

/// The body of an answer.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "most answers are of a fixed layout: a box would cost each an allocation")]
pub(crate) enum Payload {
    /// Nothing but success.
    Empty,
    /// A fixed layout.
    Fixed(Body),
    /// Data in pieces, which are never joined.
    Pieces(Vec<Bytes>),
}

/// What the kernel holds once it has the answer, and gives back itself; if the answer does not reach it, the door does.
#[derive(Debug)]
pub(crate) enum Taken {
    /// Nothing.
    Nothing,
    /// A reference.
    Entry(Ino),
    /// An open file.
    Open(Ino, Handle),
    /// Both.
    EntryAndOpen(Ino, Handle),
    /// A reference for each entry of a listing.
    Entries(Vec<Ino>),
}

/// A successful answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) payload: Payload,
    pub(crate) taken: Taken,
}

impl Answer {
    /// Success, and no more to say.
    pub(crate) const EMPTY: Self = Self { payload: Payload::Empty, taken: Taken::Nothing };

    /// An answer of a fixed layout.
    pub(crate) fn fixed(body: Body) -> Self {
        Self { payload: Payload::Fixed(body), taken: Taken::Nothing }
    }

    /// An answer of bytes.
    pub(crate) fn bytes(bytes: impl Into<Bytes>) -> Self {
        Self { payload: Payload::Pieces(vec![bytes.into()]), taken: Taken::Nothing }
    }

    /// The same answer, which hands `taken` to the kernel.
    pub(crate) fn taking(mut self, taken: Taken) -> Self {
        self.taken = taken;
        self
    }
}

impl Taken {
    /// Gives everything back to the store.
    pub(crate) fn give_back(self, session: &Session) {
        let vfs = &session.vfs;
        let release = |ino, handle| {
            session.writers.released(ino, handle);
            let vfs = Arc::clone(vfs);
            session.runtime.spawn(async move { vfs.release(ino, handle).await });
        };
        match self {
            Self::Nothing => {}
            Self::Entry(ino) => vfs.forget(ino, 1),
            Self::Open(ino, handle) => release(ino, handle),
            Self::EntryAndOpen(ino, handle) => {
                release(ino, handle);
                vfs.forget(ino, 1);
            }
            Self::Entries(inos) => inos.into_iter().for_each(|ino| vfs.forget(ino, 1)),
        }
    }
}
