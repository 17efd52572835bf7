//! System calls that wait until the kernel has written pages back: to this very process.
//!
//! A thread that waits so can't be killed, and as long as it shares the table of open files it keeps the FUSE device open: after `kill -9`
//! nobody serves the mount, and the kernel does not hear that nobody will. So it waits with a table of its own, which is empty.

use std::io;
use std::thread;

/// Runs `work` on a thread that has no file open, and returns what it returned. Blocks; `work` may open files of its own.
pub(crate) fn apart<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    let waiting = thread::Builder::new().name("stoa-fuse-apart".into()).spawn(move || {
        give_up_files();
        work()
    })?;
    waiting.join().unwrap_or_else(|_| Err(io::Error::other("the thread that waited for the kernel panicked")))
}

/// Gives this thread a table of open files of its own, without the standard streams' successors (`close_range(2)`,
/// `CLOSE_RANGE_UNSHARE`).
fn give_up_files() {
    // SAFETY: the call takes no pointers. What it closes, it closes in a table that only this thread has: every descriptor
    // that another thread owns stays open for that thread. This thread was handed none.
    let given_up = unsafe { libc::close_range(3, libc::c_uint::MAX, libc::CLOSE_RANGE_UNSHARE.cast_signed()) };
    if given_up != 0 {
        // A kernel without the call: everything works, but for the case that this is about.
        tracing::debug!(error = %io::Error::last_os_error(), "a waiting thread shares the table of open files");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsRawFd;

    #[test]
    fn the_thread_has_none_of_the_files_of_the_process() {
        let file = File::open("/proc/self/exe").expect("a file to open");
        let number = file.as_raw_fd();
        let open = move |whose: &str| std::fs::read_link(format!("/proc/{whose}/fd/{number}")).is_ok();
        let seen = apart(move || Ok(open("thread-self"))).expect("the thread ran");
        assert!(!seen && open("self"));
        assert!(file.metadata().is_ok());
    }

    #[test]
    fn what_goes_wrong_is_returned() {
        let error = apart(|| File::open("/no/such/file").map(drop)).expect_err("there is none");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
