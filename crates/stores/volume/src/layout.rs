//! Where things are in the bucket: FORMAT.md, "Objects".

mod sealed;

use crate::{Error, FormatOptions, Result, VolumeInfo};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions};
use serde::{Deserialize, Serialize};
use stoa_meta::{Fences, SegmentId};
use uuid::Uuid;

/// The version of the format that this program writes, and the newest it reads.
pub(crate) const FORMAT_VERSION: u32 = 2;

/// The object that says what the volume is. Its being there makes a volume: it is written last.
const VOLUME_FILE: &str = "volume.json";

/// The folder of segments.
pub(crate) const DATA: &str = "data";

/// The object of a segment. The folder is the low byte of its number, so that requests spread over key prefixes.
pub(crate) fn segment_path(segment: SegmentId) -> Path {
    Path::from(format!("{DATA}/{:02x}/{segment}", segment.0 & 0xff))
}

/// The segment that an object's path names.
pub(crate) fn segment_of(path: &Path) -> Option<SegmentId> {
    let name = path.filename()?;
    let id = u64::from_str_radix(name, 16).ok().map(SegmentId)?;
    (segment_path(id) == *path).then_some(id)
}

/// The content of `volume.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct VolumeFile {
    /// Says what this file is, to a person who finds it.
    pub(crate) about: String,
    pub(crate) format_version: u32,
    pub(crate) uuid: Uuid,
    /// RFC 3339.
    pub(crate) created: String,
    pub(crate) compression_level: u8,
}

impl VolumeFile {
    pub(crate) fn new(options: &FormatOptions) -> Self {
        Self {
            about: "a Stoa volume: the files are in data/ and meta/ beside this object, for `stoa mount` to read"
                .into(),
            format_version: FORMAT_VERSION,
            uuid: Uuid::new_v4(),
            created: crate::clock::rfc3339_now(),
            compression_level: options.compression_level,
        }
    }

    /// How the namespace's fences are stored.
    pub(crate) fn fences(&self) -> Fences {
        if self.format_version < 2 { Fences::Empty } else { Fences::Sealed }
    }

    pub(crate) fn info(&self) -> VolumeInfo {
        VolumeInfo {
            format_version: self.format_version,
            uuid: self.uuid.to_string(),
            created: self.created.clone(),
            compression_level: self.compression_level,
        }
    }

    /// Writes it, unless there is one.
    pub(crate) async fn create(&self, store: &dyn ObjectStore) -> Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(|error| Error::Io(error.to_string()))?;
        let text = sealed::seal(&text).ok_or_else(|| Error::Io("volume.json would not be a JSON object".into()))?;
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match store.put_opts(&Path::from(VOLUME_FILE), text.into(), options).await {
            Ok(_) => Ok(()),
            Err(object_store::Error::AlreadyExists { .. }) => Err(Error::Exists(store.to_string())),
            Err(error) => Err(Error::store("write volume.json", &error)),
        }
    }

    /// Reads it.
    ///
    /// # Errors
    /// [`Error::NotAVolume`], [`Error::Newer`], [`Error::Corrupt`].
    pub(crate) async fn read(store: &dyn ObjectStore) -> Result<Self> {
        let text = match store.get(&Path::from(VOLUME_FILE)).await {
            Ok(found) => found.bytes().await.map_err(|error| Error::store("read volume.json", &error))?,
            Err(object_store::Error::NotFound { .. }) => return Err(Error::NotAVolume(store.to_string())),
            Err(error) => return Err(Error::store("read volume.json", &error)),
        };
        let text = sealed::unseal(&text).ok_or_else(|| {
            Error::Corrupt("volume.json is not as `stoa format` wrote it: its checksum is wrong".into())
        })?;
        // The version first: a newer format may have other fields.
        #[derive(Deserialize)]
        struct Version {
            format_version: u32,
        }
        let broken = |error: serde_json::Error| Error::Corrupt(format!("volume.json: {error}"));
        let Version { format_version: found } = serde_json::from_str(text).map_err(broken)?;
        if found > FORMAT_VERSION {
            return Err(Error::Newer { found, supported: FORMAT_VERSION });
        }
        serde_json::from_str(text).map_err(broken)
    }
}
