//! Places in a directory as 63 bits: ten name the pass, 18 the page, 35 the entry.

use stoa_vfs::Cookie;

const HASH_BITS: u32 = 35;
const PAGE_BITS: u32 = 18;
const SCAN_BITS: u32 = 10;

/// The largest hash of a name.
pub(super) const HASH_MAX: u64 = (1 << HASH_BITS) - 1;

/// The smallest: cookies begin at 3.
pub(super) const HASH_MIN: u64 = 3;

/// Right after an entry of a page; the default is the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Place {
    /// The page's number.
    pub(crate) page: u32,
    /// The hash of the entry's name.
    pub(crate) hash: u64,
}

impl Place {
    /// The number of the pass, and the place, that a cookie says.
    pub(super) fn of(cookie: Cookie) -> (u16, Self) {
        let part = |from: u32, bits: u32| (cookie.0 >> from) & ((1 << bits) - 1);
        let page = u32::try_from(part(HASH_BITS, PAGE_BITS)).unwrap_or(u32::MAX);
        let number = u16::try_from(part(HASH_BITS + PAGE_BITS, SCAN_BITS)).unwrap_or(u16::MAX);
        (number, Self { page, hash: part(0, HASH_BITS) })
    }

    /// The cookie, if the page has a number that fits.
    pub(super) fn cookie(self, scan: u16) -> Option<Cookie> {
        let fits = self.page < 1 << PAGE_BITS && self.hash <= HASH_MAX;
        let scan = u64::from(scan) << (HASH_BITS + PAGE_BITS);
        fits.then_some(Cookie(scan | u64::from(self.page) << HASH_BITS | self.hash))
    }
}

/// The number of the pass that is begun as the `begun`th.
pub(super) fn scan_number(begun: u16) -> u16 {
    begun & ((1 << SCAN_BITS) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_come_back(scan: u16, page in 0..1_u32 << PAGE_BITS, hash in HASH_MIN..=HASH_MAX) {
            let (scan, place) = (scan_number(scan), Place { page, hash });
            let cookie = place.cookie(scan).unwrap();
            prop_assert_eq!(Place::of(cookie), (scan, place));
            prop_assert!(cookie.0 >= 3 && cookie.0 <= i64::MAX.cast_unsigned());
        }
    }

    #[test]
    fn too_many_pages_have_no_cookie() {
        assert_eq!(Place { page: 1 << PAGE_BITS, hash: 5 }.cookie(0), None);
    }
}
