//! The allocator, and what keeps it from holding on to memory beyond `--memory`.

use libmimalloc_sys::{mi_option_set, mi_option_t};
use std::ffi::c_long;
use std::time::Duration;

/// A request takes dozens of small allocations, many given back by another thread: what the system's allocator is slow at.
/// Without huge pages: one is resident whole for as long as anything in it is in use.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// `mi_option_purge_delay` of `mimalloc.h`, for which the bindings have no name.
const PURGE_DELAY: mi_option_t = 15;

/// How long free memory is kept for who needs some next. In the second that is the allocator's default, hundreds of MiB pass through a mount;
/// with none at all, every buffer of a large write costs the kernel new pages.
pub(crate) const KEPT_LEAST: Duration = Duration::from_millis(10);

/// Has free memory given back to the system after a while.
///
/// To be called before there is a second thread.
pub(crate) fn give_back_after(kept: Duration) {
    let milliseconds = c_long::try_from(kept.as_millis()).unwrap_or(c_long::MAX);
    // SAFETY: the option exists, and there is no other thread that could read it while it is stored.
    unsafe { mi_option_set(PURGE_DELAY, milliseconds) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails when an update of the allocator numbers its options anew: the delay is the only one with this default.
    #[test]
    fn the_option_is_the_delay() {
        // SAFETY: reads a number, which no other test changes.
        assert_eq!(unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) }, 1000);
    }
}
