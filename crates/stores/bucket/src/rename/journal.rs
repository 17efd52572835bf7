//! What is written down of a rename of a directory while it goes on, in an object of its own: `.stoa-rename-` and 32 digits, at the
//! start of what is mounted.

use super::owner::Owner;
use futures::TryStreamExt;
use serde::{Deserialize, Serialize};
use stoa_objects::s3::{Condition, Headers, Read, S3Bucket};
use stoa_objects::{Error, Result};

/// What the names of journals begin with.
pub(super) const NAME: &str = ".stoa-rename-";

/// How many hexadecimal digits follow.
const DIGITS: usize = 32;

/// The version of what is in it.
const VERSION: u32 = 1;

/// How far a rename has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Phase {
    /// Objects are copied; the old ones are all there.
    Copying,
    /// All were copied; the old ones are removed.
    Copied,
    /// It failed, and the copies are removed.
    Undoing,
}

/// What is written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    version: u32,
    /// What keys begin with, and with what instead.
    pub(super) from: String,
    pub(super) to: String,
    /// Whether there was an empty directory at the new name.
    pub(super) replaces: bool,
    pub(super) phase: Phase,
    pub(super) owner: Owner,
    /// Grows while somebody is at it.
    beat: u64,
}

/// The journal of one rename.
#[derive(Debug)]
pub(super) struct Journal {
    s3: S3Bucket,
    key: String,
    /// Names the rename, and the copies that it makes.
    pub(super) id: String,
    pub(super) record: Record,
    pub(super) etag: String,
}

/// Whether the name of a key is that of a journal, which is no file.
pub(crate) fn is_journal(key: &str) -> bool {
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    id(name).is_some()
}

fn id(name: &str) -> Option<&str> {
    let id = name.strip_prefix(NAME)?;
    (id.len() == DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(id)
}

impl Record {
    pub(super) fn new(from: &str, to: &str, replaces: bool) -> Self {
        let (from, to) = (from.to_owned(), to.to_owned());
        Self { version: VERSION, from, to, replaces, phase: Phase::Copying, owner: Owner::this(), beat: 0 }
    }
}

impl Journal {
    /// Writes down that a rename begins. `root`: what is mounted.
    pub(super) async fn begin(s3: &S3Bucket, root: &str, id: String, record: Record) -> Result<Self> {
        let key = format!("{root}{NAME}{id}");
        let mut journal = Self { s3: s3.clone(), key, id, record, etag: String::new() };
        journal.write(&Condition::IfAbsent).await?;
        Ok(journal)
    }

    /// Reads one that was found; `None` if it is gone, or is none that this version can read, or that may be followed.
    /// `root`: what is mounted.
    pub(super) async fn read(s3: &S3Bucket, root: &str, key: &str) -> Result<Option<Self>> {
        let Some(id) = key.rsplit_once('/').map_or(Some(key), |(_, name)| Some(name)).and_then(id) else {
            return Ok(None);
        };
        let got = match s3.get(key, &Read::default()).await {
            Err(Error::NotFound { .. }) => return Ok(None),
            got => got?,
        };
        let etag = got.info.etag.unwrap_or_default();
        let bytes: Vec<bytes::Bytes> = got.body.try_collect().await?;
        match serde_json::from_slice::<Record>(&bytes.concat()) {
            Ok(record) if record.version == VERSION && record.is_sound(root) => {
                Ok(Some(Self { s3: s3.clone(), key: key.to_owned(), id: id.to_owned(), record, etag }))
            }
            _ => {
                tracing::error!(
                    key,
                    "the journal of a rename can't be read, or leads out of what is mounted: it stays as it is, unfinished"
                );
                Ok(None)
            }
        }
    }

    /// Writes down how far it has come.
    ///
    /// # Errors
    /// [`Error::Conflict`] if another mount has taken it over.
    pub(super) async fn enter(&mut self, phase: Phase) -> Result<()> {
        self.record.phase = phase;
        self.write(&Condition::IfMatch(self.etag.clone())).await
    }

    /// Takes it over.
    ///
    /// # Errors
    /// [`Error::Conflict`] if somebody is at it.
    pub(super) async fn take_over(&mut self) -> Result<()> {
        self.record.owner = Owner::this();
        self.write(&Condition::IfMatch(self.etag.clone())).await
    }

    /// Says that somebody is at it. When that can't be said this time, the work goes on: if it can't for long, another mount takes
    /// the rename over, and the next time finds that out.
    ///
    /// # Errors
    /// [`Error::Conflict`] as [`Journal::enter`], and no other.
    pub(super) async fn beat(&mut self) -> Result<()> {
        match self.write(&Condition::IfMatch(self.etag.clone())).await {
            Err(error) if !matches!(error, Error::Conflict { .. }) => {
                let Self { key, record: Record { from, to, .. }, .. } = self;
                tracing::warn!(%error, key, from, to, "the journal of a rename can't be written: it goes on, and tries that again");
                Ok(())
            }
            beaten => beaten,
        }
    }

    /// Removes it: the rename is over.
    pub(super) async fn end(self) -> Result<()> {
        match self.s3.delete(&self.key, Some(&self.etag), None).await {
            Err(Error::NotFound { .. }) => Ok(()),
            ended => ended,
        }
    }

    async fn write(&mut self, condition: &Condition) -> Result<()> {
        self.record.beat += 1;
        let op = || format!("writing {}", self.key);
        let text = serde_json::to_vec(&self.record)
            .map_err(|error| Error::Rejected { op: op(), detail: error.to_string() })?;
        let headers = Headers { content_type: Some("application/json".to_owned()), ..Headers::default() };
        let written = self.s3.put(&self.key, text.into(), &headers, condition).await;
        self.etag = written
            .map_err(|error| match error {
                Error::NotFound { op } => Error::Conflict { op, detail: "the journal is gone".to_owned() },
                error => error,
            })?
            .etag;
        Ok(())
    }
}

impl Record {
    /// Whether these are two directories below `root`, neither in the other: nothing else is ever renamed, nor removed.
    /// Whoever may write there may have written it.
    fn is_sound(&self, root: &str) -> bool {
        let length_min = root.len().max(1) + 1;
        let is_directory =
            |prefix: &str| prefix.starts_with(root) && prefix.ends_with('/') && prefix.len() >= length_min;
        is_directory(&self.from)
            && is_directory(&self.to)
            && !self.from.starts_with(&self.to)
            && !self.to.starts_with(&self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journals_are_known_by_their_names() {
        let id = super::super::new_id();
        assert!(is_journal(&format!("{NAME}{id}")) && is_journal(&format!("a/b/{NAME}{id}")));
        for other in [NAME.to_owned(), format!("{NAME}{id}0"), format!("{NAME}{id}/x"), format!("x{NAME}{id}")] {
            assert!(!is_journal(&other), "{other}");
        }
    }
}
