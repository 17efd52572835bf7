//! Set-uid, set-gid and capabilities of a file, which go when somebody changes its content.
//!
//! Taking them is left to the server (`HANDLE_KILLPRIV_V2`). With a write and a truncation the kernel says whether to; with FALLOCATE and
//! COPY_FILE_RANGE it does not.

use super::Request;
use crate::errno::Failure;
use crate::session::Session;
use stoa_vfs::{Ino, SetAttr};

/// The bit of `CAP_FSETID`.
const FSETID: u64 = 1 << 4;

impl Request<'_> {
    /// Whether a file loses its privileges when who asks changes it. Of one that can't be seen from here (another namespace), it does.
    pub(super) fn takes_privileges(&self) -> bool {
        stoa_process::capabilities(self.header.pid).is_none_or(|set| set & FSETID == 0)
    }
}

/// Takes the privileges of `ino`, before its content changes.
pub(super) async fn clear(session: &Session, ino: Ino) -> Result<(), Failure> {
    session.vfs.setattr(ino, &SetAttr { clear_privileges: true, ..SetAttr::default() }).await?;
    // It runs programs by the mode that it knows.
    session.forget_attributes(ino);
    Ok(())
}
