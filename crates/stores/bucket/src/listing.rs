//! Listings, page by page, of directories of any size.
//!
//! A *scan* is one pass over a directory. It keeps no names: of each page it keeps a *mark*, which is where the page begins. A
//! page is kept for a while in a cache of bounded size; when it is needed again, the keys between its mark and the next are
//! listed again. Within a page, entries come in the order of a hash of their names, and a cookie is the page and the hash: so
//! it stays where it is, whatever comes and goes around it.

mod cookie;
mod fetch;
mod mark;
mod merge;
mod page;

pub(crate) use fetch::{first_below, listed};
pub(crate) use page::{Page, Pages};

use cookie::Place;
use mark::Marks;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use stoa_vfs::{Cookie, Error, Result};
use tokio::time::Instant;

/// So many passes over one directory can be under way; the one that was used least recently is given up first.
const SCANS_MAX: usize = 16;

/// Tells scans apart, in all directories.
static SCANS: AtomicU64 = AtomicU64::new(0);

/// The passes over one directory.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    scans: Mutex<Scans>,
}

#[derive(Debug, Default)]
struct Scans {
    /// The newest last.
    scans: Vec<Arc<Scan>>,
    begun: u16,
}

/// One pass over a directory.
#[derive(Debug)]
pub(crate) struct Scan {
    /// Names it among all scans.
    id: u64,
    /// Names it in cookies of its directory.
    number: u16,
    began: Instant,
    used: Mutex<Instant>,
    /// Something was changed here since.
    outdated: AtomicBool,
    marks: Mutex<Marks>,
    /// Held by who fetches a page.
    fetching: tokio::sync::Mutex<()>,
}

impl Listing {
    /// The pass that a reader at `cookie` is on, and where on it that is. At the start it is one that is not older than `ttl`.
    ///
    /// # Errors
    /// [`Error::Io`] for a cookie of a pass that was given up.
    pub(crate) fn resume(&self, cookie: Cookie, ttl: Duration) -> Result<(Arc<Scan>, Place)> {
        if cookie == Cookie::START {
            return Ok((self.scans.lock().fresh(ttl), Place::default()));
        }
        let (number, place) = Place::of(cookie);
        let scans = self.scans.lock();
        let scan = scans.scans.iter().find(|scan| scan.number == number);
        let scan = scan.ok_or_else(|| Error::Io("the listing is too old to go on with; begin it again".to_owned()))?;
        scan.touch();
        Ok((Arc::clone(scan), place))
    }

    /// The newest pass, if it was used within `ttl`.
    pub(crate) fn recent(&self, ttl: Duration) -> Option<Arc<Scan>> {
        let scan = self.scans.lock().scans.last().cloned()?;
        let used = *scan.used.lock();
        (used.elapsed() < ttl && !scan.is_outdated()).then_some(scan)
    }

    /// A name was added or removed: who begins to read sees it, and who is at it goes on.
    pub(crate) fn outdate(&self) {
        self.scans.lock().scans.iter().for_each(|scan| scan.outdated.store(true, Ordering::Relaxed));
    }

    /// The directory has another name: who is at it has to begin again.
    pub(crate) fn forget(&self) {
        self.scans.lock().scans.clear();
    }
}

impl Scans {
    fn fresh(&mut self, ttl: Duration) -> Arc<Scan> {
        if let Some(newest) = self.scans.last().filter(|scan| scan.began.elapsed() < ttl && !scan.is_outdated()) {
            newest.touch();
            return Arc::clone(newest);
        }
        if self.scans.len() >= SCANS_MAX {
            let oldest = self.scans.iter().enumerate().min_by_key(|(_, scan)| *scan.used.lock()).map(|(at, _)| at);
            oldest.map(|at| self.scans.remove(at));
        }
        let scan = Arc::new(Scan::new(cookie::scan_number(self.begun)));
        self.begun = self.begun.wrapping_add(1);
        self.scans.push(Arc::clone(&scan));
        scan
    }
}

impl Scan {
    fn new(number: u16) -> Self {
        let now = Instant::now();
        Self {
            id: SCANS.fetch_add(1, Ordering::Relaxed),
            number,
            began: now,
            used: Mutex::new(now),
            outdated: AtomicBool::new(false),
            marks: Mutex::default(),
            fetching: tokio::sync::Mutex::default(),
        }
    }

    fn is_outdated(&self) -> bool {
        self.outdated.load(Ordering::Relaxed)
    }

    /// It is in use.
    pub(crate) fn touch(&self) {
        *self.used.lock() = Instant::now();
    }

    /// The page that has `key`, if that was reached.
    pub(crate) fn covering(&self, key: &str) -> Option<u32> {
        self.marks.lock().covering(key)
    }

    /// Whether the directory ended before page `number`.
    pub(crate) fn is_beyond(&self, number: u32) -> bool {
        self.marks.lock().is_beyond(number)
    }

    /// The cookie after an entry at `place` of page `number`.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for a directory with more pages than cookies can count.
    pub(crate) fn cookie(&self, number: u32, hash: u64) -> Result<Cookie> {
        Place { page: number, hash }.cookie(self.number).ok_or(Error::TooLarge)
    }
}

#[cfg(test)]
mod tests;
