//! Who may write: one mount at a time.
//!
//! Every open takes the next epoch by creating `owners/<epoch>.json`, which only one can. A mount that ends well marks its
//! own; one that did not leaves it open, and the next must know that it is gone: same machine and no such process, or a person
//! says so (`--take-over`). Nothing has to be renewed, so an idle mount costs nothing. What shuts an old owner out for good is not this
//! file but the metadata engine, which refuses writes of an older epoch.

mod claim;

pub(crate) use claim::Claim;

use crate::{Error, Owner, Result};
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions};
use serde::{Deserialize, Serialize};

const OWNERS: &str = "owners";

/// Epochs of mounts that ended well that are kept, for a person to see.
const HISTORY: usize = 8;

/// The content of `owners/<epoch>.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct OwnerFile {
    owner: Owner,
    /// RFC 3339.
    since: String,
    /// RFC 3339; none while it is mounted, and after a crash.
    ended: Option<String>,
}

/// The right to write, until [`Ownership::release`].
#[derive(Debug, Clone)]
pub(crate) struct Ownership {
    /// Greater than that of every owner before.
    pub(crate) epoch: u32,
    file: OwnerFile,
}

fn path(epoch: u32) -> Path {
    Path::from(format!("{OWNERS}/{epoch:08x}.json"))
}

impl Ownership {
    /// Takes the volume.
    ///
    /// # Errors
    /// [`Error::Owned`] if another has it, and is neither known to be gone nor to be shut out (`take_over`).
    pub(crate) async fn take(store: &dyn ObjectStore, owner: Owner, take_over: bool) -> Result<Self> {
        loop {
            let epochs = list(store).await?;
            let last = epochs.last().copied().unwrap_or(0);
            if let Some(holder) = read(store, last).await?
                && holder.ended.is_none()
                && !take_over
                && !is_gone(&holder.owner, &owner)
            {
                return Err(Error::Owned(describe(&holder)));
            }
            let epoch =
                last.checked_add(1).ok_or_else(|| Error::Corrupt("the volume ran out of owner epochs".into()))?;
            let file = OwnerFile { owner: owner.clone(), since: crate::clock::rfc3339_now(), ended: None };
            if write(store, epoch, &file, PutMode::Create).await? {
                forget_old(store, &epochs).await;
                return Ok(Self { epoch, file });
            }
            // Another open was faster: look again at who it is.
        }
    }

    /// Makes sure that no other has taken the volume since. Two take-overs may cross: the older may open the namespace after the
    /// newer, and shut it out of what it rightly took.
    ///
    /// # Errors
    /// [`Error::Fenced`] if there is a newer owner.
    pub(crate) async fn confirm(&self, store: &dyn ObjectStore) -> Result<()> {
        let Some(newest) = list(store).await?.last().copied().filter(|newest| *newest > self.epoch) else {
            return Ok(());
        };
        let by = read(store, newest).await?.map_or_else(|| "another".into(), |file| describe(&file));
        Err(Error::Fenced(format!("{by} took the volume over")))
    }

    /// Says that this mount ended well.
    pub(crate) async fn release(&self, store: &dyn ObjectStore) -> Result<()> {
        let file = OwnerFile { ended: Some(crate::clock::rfc3339_now()), ..self.file.clone() };
        write(store, self.epoch, &file, PutMode::Overwrite).await.map(|_| ())
    }
}

async fn list(store: &dyn ObjectStore) -> Result<Vec<u32>> {
    let objects: Vec<_> = store
        .list(Some(&Path::from(OWNERS)))
        .try_collect()
        .await
        .map_err(|error| Error::store("list the owners of the volume", &error))?;
    let epoch = |path: &Path| u32::from_str_radix(path.filename()?.strip_suffix(".json")?, 16).ok();
    let mut epochs: Vec<u32> = objects.iter().filter_map(|object| epoch(&object.location)).collect();
    epochs.sort_unstable();
    Ok(epochs)
}

async fn read(store: &dyn ObjectStore, epoch: u32) -> Result<Option<OwnerFile>> {
    let text = match store.get(&path(epoch)).await {
        Ok(found) => found.bytes().await,
        Err(object_store::Error::NotFound { .. }) => return Ok(None),
        Err(error) => Err(error),
    };
    let text = text.map_err(|error| Error::store("read the owner of the volume", &error))?;
    serde_json::from_slice(&text).map(Some).map_err(|error| Error::Corrupt(format!("{}: {error}", path(epoch))))
}

/// Returns whether it was written; `false` if `mode` is to create and there is one.
async fn write(store: &dyn ObjectStore, epoch: u32, file: &OwnerFile, mode: PutMode) -> Result<bool> {
    let text = serde_json::to_vec_pretty(file).map_err(|error| Error::Io(error.to_string()))?;
    match store.put_opts(&path(epoch), text.into(), PutOptions { mode, ..PutOptions::default() }).await {
        Ok(_) => Ok(true),
        Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
        Err(error) => Err(Error::store("write the owner of the volume", &error)),
    }
}

/// Old files are of no use to anything; that they stay when they can't be deleted is no harm.
async fn forget_old(store: &dyn ObjectStore, epochs: &[u32]) {
    let old = epochs.iter().take(epochs.len().saturating_sub(HISTORY));
    for epoch in old {
        if let Err(error) = store.delete(&path(*epoch)).await {
            tracing::debug!(%error, epoch, "an old owner file stays");
        }
    }
}

/// Whether the holder is known to be no more. Host names, machine ids of cloned images and process ids within containers repeat,
/// so all must match; whoever is in doubt must not take a volume from a mount that lives.
fn is_gone(holder: &Owner, here: &Owner) -> bool {
    let same_place = holder.host == here.host
        && holder.machine_id == here.machine_id
        && holder.pid_namespace == here.pid_namespace
        && here.pid_namespace != 0
        && !holder.boot_id.is_empty()
        && !here.boot_id.is_empty();
    if !same_place {
        return false;
    }
    if holder.boot_id != here.boot_id {
        return !holder.machine_id.is_empty();
    }
    stoa_process::is_gone(holder.pid, holder.pid_started)
}

fn describe(file: &OwnerFile) -> String {
    let Owner { host, pid, purpose, .. } = &file.owner;
    format!("host {host}, process {pid} ({purpose}), since {}", file.since)
}

#[cfg(test)]
mod tests;
