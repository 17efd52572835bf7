//! What the store refuses: wrong credentials, missing rights, a full disk.
//!
//! The layers below repeat what passes by itself for as long as it lasts; SlateDB repeats all the rest, without a word to whoever
//! waits for it. So an error that gets as far as here, and is not a plain answer, is noted for those who should not wait for ever.

mod watched;

use crate::Error;
use object_store::ObjectStore;
use object_store::path::Path;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::watch;
use watched::Watched;

/// What is refused now, and why.
#[derive(Debug, Default)]
pub(super) struct Refusals(watch::Sender<BTreeMap<Kind, String>>);

/// Requests that are allowed or refused together: a try that succeeds may be for another object than the one that failed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    access: Access,
    folder: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Access {
    Read,
    Write,
}

impl Kind {
    fn of(access: Access, location: &Path) -> Self {
        let folder = location.as_ref().rsplit_once('/').map_or("", |(folder, _)| folder);
        Self { access, folder: folder.to_owned() }
    }
}

impl Refusals {
    /// `store`, with what it refuses noted here.
    pub(super) fn watch(self: &Arc<Self>, store: Arc<dyn ObjectStore>) -> Arc<dyn ObjectStore> {
        Arc::new(Watched { inner: store, refusals: Arc::clone(self) })
    }

    /// What is refused now, if anything is.
    pub(super) fn current(&self) -> Option<Error> {
        first(&self.0.borrow())
    }

    /// Returns once something is refused.
    pub(super) async fn any(&self) -> Error {
        let mut refused = self.0.subscribe();
        let found = refused.wait_for(|refused| !refused.is_empty()).await.ok().and_then(|refused| first(&refused));
        match found {
            Some(error) => error,
            // The sender lives in `self`.
            None => std::future::pending().await,
        }
    }

    /// Something went through that needed all of the store. Also forgets what nobody tries again.
    pub(super) fn clear(&self) {
        self.0.send_if_modified(|refused| !std::mem::take(refused).is_empty());
    }

    /// A read waits for an object that is not there.
    pub(super) fn missing(&self, path: &str) {
        tracing::error!(path, "an object of the namespace is missing; it is waited for");
        self.put(Kind::of(Access::Read, &Path::from(path)), format!("{path} is missing"));
    }

    /// Commits wait for tables that are not merged.
    pub(super) fn stuck(&self, why: &Error) {
        self.put(Kind { access: Access::Write, folder: "tables".to_owned() }, why.to_string());
    }

    fn refused(&self, access: Access, location: &Path, error: &object_store::Error) {
        let doing = if access == Access::Read { "read" } else { "written" };
        let reason = format!("{location} can't be {doing}: {error}");
        tracing::error!(%reason, "the store refuses metadata; it is tried again");
        self.put(Kind::of(access, location), reason);
    }

    fn put(&self, kind: Kind, reason: String) {
        self.0.send_modify(|refused| drop(refused.insert(kind, reason)));
    }

    fn accepted(&self, access: Access, location: &Path) {
        self.0.send_if_modified(|refused| !refused.is_empty() && refused.remove(&Kind::of(access, location)).is_some());
    }
}

fn first(refused: &BTreeMap<Kind, String>) -> Option<Error> {
    refused.values().next().cloned().map(Error::Refused)
}

#[cfg(test)]
mod tests;
