//! Who may make a volume: one format at a time.
//!
//! A format writes the namespace before `volume.json`, which makes the volume. Two at once would write one namespace over
//! the other, and whoever mounted the first volume meanwhile would lose what is in it. So a format first creates
//! `format.json`, which only one can; and looks again whether the place is empty once it has, for another format may have
//! come and gone since it looked first. The claim goes when the volume is there. One that stays tells of a format that was
//! interrupted: there is nothing of value at that place then, but only a person can know that it does not still run.

use crate::layout::VolumeFile;
use crate::{Error, Result};
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

const CLAIM: &str = "format.json";

/// How the names begin of what a probe of the store leaves if it is interrupted: in nobody's way.
const PROBE: &str = ".stoa-probe-";

/// The content of `format.json`.
#[derive(Debug, Serialize, Deserialize)]
struct ClaimFile {
    /// Says what this file is, to a person who finds it.
    about: String,
    /// Tells one claim from another.
    uuid: Uuid,
    /// RFC 3339.
    since: String,
}

/// The right to make a volume at a place that holds nothing else.
#[derive(Debug)]
pub(crate) struct Claim(());

impl Claim {
    /// # Errors
    /// [`Error::Exists`], [`Error::NotEmpty`], or that a format is under way or was interrupted.
    pub(crate) async fn check_vacant(store: &dyn ObjectStore) -> Result<()> {
        refuse_volume(store).await?;
        if holds_others(store, None).await? { Err(why_taken(store).await?) } else { Ok(()) }
    }

    /// Takes the place, if it is vacant.
    ///
    /// # Errors
    /// As [`Claim::check_vacant`].
    pub(crate) async fn take(store: &dyn ObjectStore) -> Result<Self> {
        let file = ClaimFile {
            about: "`stoa format` is making a volume here, or was interrupted while it did".into(),
            uuid: Uuid::new_v4(),
            since: crate::clock::rfc3339_now(),
        };
        let text = serde_json::to_vec_pretty(&file).map_err(|error| Error::Io(error.to_string()))?;
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match store.put_opts(&Path::from(CLAIM), text.into(), options).await {
            Ok(_) => {}
            Err(object_store::Error::AlreadyExists { .. }) => return Err(why_taken(store).await?),
            Err(error) => return Err(Error::store("write format.json", &error)),
        }
        let claim = Self(());
        if let Err(error) = claim.check_alone(store).await {
            claim.release(store).await;
            return Err(error);
        }
        Ok(claim)
    }

    async fn check_alone(&self, store: &dyn ObjectStore) -> Result<()> {
        refuse_volume(store).await?;
        if holds_others(store, Some(CLAIM)).await? { Err(Error::NotEmpty(store.to_string())) } else { Ok(()) }
    }

    /// Gives the place free. Beside a volume, a claim that can't be deleted is no harm.
    pub(crate) async fn release(self, store: &dyn ObjectStore) {
        if let Err(error) = store.delete(&Path::from(CLAIM)).await {
            tracing::warn!(%error, "format.json stays");
        }
    }
}

async fn refuse_volume(store: &dyn ObjectStore) -> Result<()> {
    match VolumeFile::read(store).await {
        Err(Error::NotAVolume(_)) => Ok(()),
        Ok(_) | Err(Error::Newer { .. }) => Err(Error::Exists(store.to_string())),
        Err(error) => Err(error),
    }
}

/// Whether there is anything but `own`.
async fn holds_others(store: &dyn ObjectStore, own: Option<&str>) -> Result<bool> {
    let mut objects = store.list(None);
    while let Some(object) = objects.try_next().await.map_err(|error| Error::store("list the store", &error))? {
        let name = object.location.as_ref();
        if Some(name) != own && !name.starts_with(PROBE) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What to tell who found the place taken.
async fn why_taken(store: &dyn ObjectStore) -> Result<Error> {
    let claim = match store.get(&Path::from(CLAIM)).await {
        Ok(found) => found.bytes().await.map_err(|error| Error::store("read format.json", &error))?,
        Err(object_store::Error::NotFound { .. }) => {
            // The format that had it may have ended since: then there is a volume.
            refuse_volume(store).await?;
            return Ok(Error::NotEmpty(store.to_string()));
        }
        Err(error) => return Err(Error::store("read format.json", &error)),
    };
    // It stands for itself even if it can't be read.
    let since = serde_json::from_slice(&claim).map_or("an unknown time".into(), |claim: ClaimFile| claim.since);
    // It may also have ended between the two looks.
    refuse_volume(store).await?;
    Ok(Error::Io(format!(
        "another format of {store} is under way since {since}; if none is running any more, it was interrupted before there \
         was a volume: remove every object under {store} (with {CLAIM} last) and try again"
    )))
}

#[cfg(test)]
mod tests;
