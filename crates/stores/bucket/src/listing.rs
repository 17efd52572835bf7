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
mod own;
mod page;

pub(crate) use fetch::first_below;
pub(crate) use page::{Page, Pages};

use cookie::Place;
use mark::Marks;
use own::Changes;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use stoa_vfs::{Cookie, Error, Name, Result};
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
    /// What was changed here since.
    changes: Mutex<Changes>,
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
        (used.elapsed() < ttl).then_some(scan)
    }

    /// A name was added or removed here: who begins to read sees it, who is at it goes on, and of all other names is still known what
    /// was known.
    pub(crate) fn changed(&self, name: &Name) {
        self.scans.lock().scans.iter().for_each(|scan| scan.changes.lock().add(name));
    }

    /// Any of its names may have changed.
    pub(crate) fn outdate(&self) {
        self.scans.lock().scans.iter().for_each(|scan| scan.changes.lock().add_all());
    }

    /// The directory was made just now, with nothing in it but its marker: that is a listing.
    pub(crate) fn is_new(&self, pages: &Pages) {
        let scan = self.scans.lock().begin();
        scan.marks.lock().reached(None);
        pages.keep((scan.id, 0), &Arc::new(Page::new([], true).marked(true)));
    }

    /// Whether there are other names than those that were changed here, by what was last listed and is not older than `ttl`.
    pub(crate) fn has_others(&self, pages: &Pages, ttl: Duration) -> bool {
        let Some(scan) = self.recent(ttl) else { return false };
        let count = scan.marks.lock().count();
        let changes = scan.changes.lock();
        // Who removes all begins with the first.
        let at_hand = (0..count).rev().filter_map(|number| pages.get((scan.id, number), Some(ttl)));
        at_hand.into_iter().any(|page| page.names().rev().any(|name| !changes.has(name)))
    }

    /// Whether it has a marker, by what was last listed and is not older than `ttl`: it stays then, whatever is removed from it.
    pub(crate) fn is_marked(&self, pages: &Pages, ttl: Duration) -> bool {
        let first = self.recent(ttl).and_then(|scan| pages.get((scan.id, 0), Some(ttl)));
        first.is_some_and(|page| page.is_marked())
    }

    /// The directory has another name: who is at it has to begin again.
    pub(crate) fn forget(&self) {
        self.scans.lock().scans.clear();
    }
}

impl Scans {
    fn fresh(&mut self, ttl: Duration) -> Arc<Scan> {
        let current = |scan: &&Arc<Scan>| scan.began.elapsed() < ttl && scan.changes.lock().is_empty();
        if let Some(newest) = self.scans.last().filter(current) {
            newest.touch();
            return Arc::clone(newest);
        }
        self.begin()
    }

    fn begin(&mut self) -> Arc<Scan> {
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
            changes: Mutex::default(),
            marks: Mutex::default(),
            fetching: tokio::sync::Mutex::default(),
        }
    }

    /// Whether what it saw of a name can still be so.
    pub(crate) fn knows(&self, name: &Name) -> bool {
        !self.changes.lock().has(name)
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
