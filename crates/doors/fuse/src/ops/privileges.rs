//! Set-uid, set-gid and capabilities of a file, which go when somebody changes its content.
//!
//! Taking them is left to the server (`HANDLE_KILLPRIV_V2`). With a write and a truncation the kernel says whether to; with FALLOCATE and
//! COPY_FILE_RANGE it does not.

use super::Request;
use crate::session::Session;
use stoa_vfs::{Ino, Result, SetAttr};

/// The bit of `CAP_FSETID`.
const FSETID: u64 = 1 << 4;

impl Request<'_> {
    /// Whether a file loses its privileges when who asks changes it. Of one that can't be seen from here (another namespace), it does.
    pub(super) fn takes_privileges(&self) -> bool {
        stoa_process::capabilities(self.header.pid).is_none_or(|set| set & FSETID == 0)
    }
}

/// Takes the privileges of `ino`, before its content changes.
pub(super) async fn clear(session: &Session, ino: Ino) -> Result<()> {
    let clear = SetAttr { clear_privileges: true, ..SetAttr::default() };
    told(session, ino, true, session.vfs.setattr(ino, &clear)).await.map(drop)
}

/// Does `work`, which takes the privileges of `ino` if it `takes` any, and tells the kernel: that would go on to run the file by the mode
/// that it knows.
pub(super) async fn told<T>(
    session: &Session,
    ino: Ino,
    takes: bool,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let known = if takes { session.vfs.getattr(ino).await.map_or(0, |attr| attr.mode) } else { 0 };
    let done = work.await;
    if known & (libc::S_ISUID | libc::S_ISGID) != 0 {
        session.forget_attributes(ino);
    }
    done
}
