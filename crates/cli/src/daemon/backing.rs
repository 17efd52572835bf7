//! What a mount serves: a volume, or objects as they are.

use super::served::limited;
use crate::args::Access;
use crate::failure::{Failure, Outcome};
use crate::metrics::{Cache, VolumeFigures};
use crate::output;
use crate::store::Place;
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_bucket::{Bucket, Unfinished};
use stoa_objects::{Connected, Health, Meter};
use stoa_vfs::{Ino, Vfs};
use stoa_volume::{DiskState, Volume};

/// A store that was opened, and the objects behind it.
#[derive(Debug, Clone)]
pub(super) enum Backing {
    /// A volume.
    Volume(Arc<Volume>, Connected),
    /// Objects as files, and how they were reached.
    Objects(Arc<Bucket>, Place, Access),
}

impl Backing {
    /// What the door calls.
    pub(super) fn vfs(&self) -> Arc<dyn Vfs> {
        match self {
            Self::Volume(volume, _) => Arc::clone(volume) as _,
            Self::Objects(bucket, ..) => Arc::clone(bucket) as _,
        }
    }

    /// Counts the requests.
    pub(super) fn meter(&self) -> &Meter {
        match self {
            Self::Volume(_, store) => &store.meter,
            Self::Objects(bucket, ..) => bucket.s3().meter(),
        }
    }

    /// Records their failures.
    pub(super) fn health(&self) -> &Health {
        match self {
            Self::Volume(_, store) => &store.health,
            Self::Objects(bucket, ..) => bucket.s3().health(),
        }
    }

    /// The volume, for what only a volume has.
    pub(super) fn volume(&self) -> Result<&Arc<Volume>, String> {
        match self {
            Self::Volume(volume, _) => Ok(volume),
            Self::Objects(..) => Err("this is for volumes, and objects are mounted here as they are".into()),
        }
    }

    /// The store behind it, for requests that have nothing to do with files.
    pub(super) async fn store(&self) -> Result<Connected, String> {
        match self {
            Self::Volume(_, store) => Ok(store.clone()),
            Self::Objects(_, place, access) => place.connect(access).await.map_err(|failure| failure.what().to_owned()),
        }
    }

    /// Where the bytes of a file are.
    pub(super) async fn file_info(&self, ino: Ino) -> Result<Value, String> {
        match self {
            Self::Volume(volume, _) => {
                let info = volume.file_info(ino).await.map_err(|error| error.to_string())?;
                limited(&info, "extents")
            }
            Self::Objects(bucket, ..) => {
                bucket.file_info(ino).await.map(|info| json!(info)).map_err(|error| error.to_string())
            }
        }
    }

    /// Makes everything durable, and gives it back, for as long as that takes.
    pub(super) async fn close(&self) -> Outcome<()> {
        match self {
            Self::Volume(volume, _) => {
                volume.close().await.map_err(|error| Failure::because("the volume could not be closed", &error))
            }
            Self::Objects(bucket, ..) => {
                let closed = bucket.close().await;
                let unfinished = closed
                    .map_err(|error| Failure::because("a file that was being written is not in the store", &error))?;
                if unfinished.is_empty() { Ok(()) } else { Err(still_written(&unfinished)) }
            }
        }
    }

    /// Makes durable what can be before the end is known: of objects, not what somebody is in the middle of writing, as that would take the
    /// place of what is whole.
    pub(super) async fn make_durable(&self) -> stoa_vfs::Result<()> {
        match self {
            Self::Volume(volume, _) => volume.sync().await,
            Self::Objects(bucket, ..) => bucket.settle().await,
        }
    }

    /// What is not in the store yet.
    pub(super) fn pending(&self) -> String {
        let (dirty_bytes, operations) = self.unstored();
        format!("{} not in the store yet", output::unstored(dirty_bytes, operations))
    }

    /// What never gets into the store if closing has failed, if there is such.
    pub(super) fn lost(&self) -> Option<String> {
        let (dirty_bytes, operations) = self.unstored();
        (dirty_bytes > 0 || operations > 0).then(|| output::unstored(dirty_bytes, operations))
    }

    /// Bytes and changes of names that are not in the store yet.
    pub(super) fn unstored(&self) -> (u64, u64) {
        match self {
            Self::Volume(volume, _) => {
                let status = volume.status();
                (status.dirty_bytes, status.uncommitted_operations)
            }
            Self::Objects(bucket, ..) => (bucket.status().dirty_bytes, 0),
        }
    }

    /// How it is, under the name that says what it is.
    pub(super) fn status(&self) -> (&'static str, Value) {
        match self {
            Self::Volume(volume, _) => ("volume", json!(volume.status())),
            Self::Objects(bucket, ..) => ("objects", json!(bucket.status())),
        }
    }

    /// What a volume holds, if it is one.
    pub(super) fn figures(&self) -> Option<VolumeFigures> {
        let volume = self.volume().ok()?;
        let status = volume.status();
        Some(VolumeFigures {
            uploads_running: status.uploads_running,
            used_bytes: status.used_bytes,
            inodes: status.inodes,
            fenced: status.fenced.is_some(),
        })
    }

    /// The ceiling of dirty data and caches.
    pub(super) fn memory_bytes_max(&self) -> u64 {
        match self {
            Self::Volume(volume, _) => volume.status().memory_bytes_max,
            Self::Objects(bucket, ..) => bucket.status().memory_bytes_max,
        }
    }

    /// What the cache of data did and holds.
    pub(super) fn cache(&self) -> Cache {
        let usage = match self {
            Self::Volume(volume, _) => volume.cache_usage(),
            Self::Objects(bucket, ..) => bucket.cache_usage(),
        };
        Cache {
            hits: usage.hits,
            misses: usage.misses,
            disk_hits: usage.disk_hits,
            fetched_bytes: usage.fetched_bytes,
            evictions: usage.evictions,
            memory_bytes: usage.memory_bytes,
            memory_bytes_max: usage.memory_bytes_max,
            disk_bytes: usage.disk_bytes,
            disk_bytes_max: if usage.disk == DiskState::On { usage.disk_bytes_max } else { 0 },
        }
    }
}

/// Says of which files nobody but their writers knows whether they are whole.
fn still_written(unfinished: &[Unfinished]) -> Failure {
    let files: Vec<String> = unfinished.iter().map(ToString::to_string).collect();
    let count = output::plural(files.len() as u64, "file");
    Failure::new(format!("{count} still open for writing at the end: {}", files.join("; ")))
}
