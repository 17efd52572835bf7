//! Listings.

use super::{Request, Step, attr};
use crate::errno::Failure;
use crate::session::{Answer, Session, Taken};
use stoa_vfs::{Cookie, DirEntry, Error, Ino, Kind, NAME_MAX};
use stoa_wire_fuse::{DirBuffer, Entry, Open, flags, reply};

/// The cookies after `.` and after `..`; a store's own begin at 3.
const AFTER_DOT: u64 = 1;
const AFTER_DOT_DOT: u64 = 2;

/// The length of name that is reckoned with when a store is asked for as many entries as fit.
const NAME_BYTES_TYPICAL: usize = 24;

/// The longest answer, in bytes, whatever the kernel asks for.
const LISTING_BYTES_MAX: u32 = 1 << 20;

pub(super) fn open(r: &Request<'_>) -> Result<Step, Failure> {
    if r.session.agreement.no_opendir {
        // Remembered: the kernel caches listings from now on, and asks no more.
        return Err(Failure::UNIMPLEMENTED);
    }
    let cached = flags::open_reply::KEEP_CACHE | flags::open_reply::CACHE_DIR;
    let flags = if r.session.policy.exclusive { cached } else { 0 };
    Ok(Step::Answer(Ok(Answer::fixed(reply::open(&Open { handle: 0, flags })))))
}

pub(super) fn release() -> Result<Step, Failure> {
    Ok(Step::Answer(Ok(Answer::EMPTY)))
}

pub(super) fn read(r: &Request<'_>, offset: u64, size: u32, plus: bool) -> Result<Step, Failure> {
    let (session, dir) = (r.session(), r.ino());
    Request::ask(async move {
        let buffer = DirBuffer::new(size.min(LISTING_BYTES_MAX) as usize);
        let mut listing = Listing { session: &session, buffer, plus, taken: Vec::new() };
        match listing.fill(dir, offset).await {
            Ok(()) => {
                let answer = Answer::bytes(listing.buffer.into_bytes());
                Ok(answer.taking(Taken::Entries(listing.taken)))
            }
            Err(error) => {
                listing.taken.iter().for_each(|&ino| session.vfs.forget(ino, 1));
                Err(error.into())
            }
        }
    })
}

struct Listing<'s> {
    session: &'s Session,
    buffer: DirBuffer,
    plus: bool,
    /// References that go to the kernel with the buffer.
    taken: Vec<Ino>,
}

impl Listing<'_> {
    /// Adds what follows `offset`, until the buffer is full or the directory ends.
    async fn fill(&mut self, dir: Ino, offset: u64) -> Result<(), Error> {
        if offset < AFTER_DOT && !self.dot(dir, AFTER_DOT, b".") {
            return Ok(());
        }
        if offset < AFTER_DOT_DOT {
            let parent = self.session.vfs.parent(dir).await?;
            if !self.dot(parent, AFTER_DOT_DOT, b"..") {
                return Ok(());
            }
        }
        let mut after = if offset <= AFTER_DOT_DOT { Cookie::START } else { Cookie(offset) };
        // Asking again while the longest name fits means that entries seldom have to be given back.
        while self.buffer.room() >= DirBuffer::record_bytes(NAME_MAX, self.plus) {
            let count = self.buffer.room() / DirBuffer::record_bytes(NAME_BYTES_TYPICAL, self.plus);
            let page = self.session.vfs.readdir(dir, after, count.max(1), self.plus).await?;
            let Some(last) = page.entries.last().map(|entry| entry.cookie) else {
                return if page.end { Ok(()) } else { Err(Error::Io("a listing stopped before its end".to_owned())) };
            };
            if !self.add_all(page.entries) || page.end {
                return Ok(());
            }
            after = last;
        }
        Ok(())
    }

    /// Adds entries until there is no more room, and gives the references of the others back. Returns whether all were added.
    fn add_all(&mut self, entries: Vec<DirEntry>) -> bool {
        let mut room = true;
        for entry in entries {
            room = room && self.add(&entry);
            match (&entry.entry, room) {
                (None, _) => {}
                (Some(_), true) => self.taken.push(entry.ino),
                (Some(_), false) => self.session.vfs.forget(entry.ino, 1),
            }
        }
        room
    }

    fn add(&mut self, entry: &DirEntry) -> bool {
        let (ino, cookie, mode) = (entry.ino.0, entry.cookie.0, entry.kind.mode_bits());
        let name = entry.name.as_bytes();
        if !self.plus {
            return self.buffer.push(ino, cookie, mode, name);
        }
        // Without attributes it has node id 0, which only says the name.
        let wire = entry.entry.as_ref().map_or_else(Entry::default, |entry| attr::entry_to_wire(self.session, entry));
        self.buffer.push_plus(&wire, ino, cookie, mode, name)
    }

    /// Adds `.` or `..`, of which the kernel takes no reference.
    fn dot(&mut self, ino: Ino, cookie: u64, name: &[u8]) -> bool {
        let mode = Kind::Directory.mode_bits();
        if self.plus {
            self.buffer.push_plus(&Entry::default(), ino.0, cookie, mode, name)
        } else {
            self.buffer.push(ino.0, cookie, mode, name)
        }
    }
}
