//! From a directory to a bucket.

mod file;
mod send;
mod walk;

use crate::attributes::Carried;
use crate::jobs::Jobs;
use crate::tally::add;
use crate::tree::Tree;
use crate::{Error, Options, PIECE_BYTES, Result, Tally, blocking};
use file::agree;
use std::path::Path;
use std::sync::Arc;
use stoa_bucket::tree::MARKER_TYPE;
use stoa_objects::s3::{Condition, Encryption, Headers, List, ObjectInfo, S3Bucket, Storage};
use stoa_vfs::Name;
use tokio::sync::{Semaphore, mpsc};
use walk::Found;

/// So many files are found ahead of those that are copied.
const FOUND_MAX: usize = 1024;
/// Memory is counted in these units, in bytes.
const UNIT_BYTES: u64 = 64 << 10;

/// What is copied, and how.
#[derive(Debug)]
pub struct Export {
    s3: S3Bucket,
    prefix: String,
    tree: Tree,
    options: Options,
    tally: Arc<Tally>,
    /// Memory for content, in units.
    memory: Semaphore,
    units_max: u32,
}

impl Export {
    /// What is in `dir` to keys of `s3` that begin with `prefix`, which is empty or ends with a slash.
    ///
    /// # Errors
    /// When `dir` can't be opened.
    pub fn new(
        dir: &Path,
        s3: S3Bucket,
        prefix: &str,
        options: Options,
        tally: Arc<Tally>,
    ) -> std::io::Result<Arc<Self>> {
        let units = options.parallel.max(1) as u64 * PIECE_BYTES / UNIT_BYTES;
        let units_max = u32::try_from(units).unwrap_or(u32::MAX);
        Ok(Arc::new(Self {
            s3,
            prefix: prefix.to_owned(),
            tree: Tree::open(dir)?,
            options,
            tally,
            memory: Semaphore::new(units_max as usize),
            units_max,
        }))
    }

    /// Copies. What could not be copied is in the tally. All else is durable when this returns.
    ///
    /// # Errors
    /// When the bucket can't be listed: nothing was copied then.
    pub async fn run(self: &Arc<Self>) -> stoa_objects::Result<()> {
        let list = List { prefix: self.prefix.clone(), keys_max: Some(1), ..List::default() };
        let first = self.s3.list(&list).await?;
        // Where nothing is, nothing has to be asked for.
        let is_empty = first.objects.is_empty() && first.next.is_none();
        let (found, mut walked) = mpsc::channel(FOUND_MAX);
        let walker = Arc::clone(self);
        let walking = tokio::task::spawn_blocking(move || walker.walk(&found));
        let mut jobs = Jobs::<()>::new(self.options.parallel);
        while let Some(found) = walked.recv().await {
            if self.tally.is_stopped() {
                break;
            }
            let export = Arc::clone(self);
            jobs.start(async move { export.one(found, is_empty).await }).await;
        }
        // The walker ends when nobody listens.
        drop(walked);
        while jobs.one().await {}
        if walking.await.is_err() || jobs.lost > 0 {
            self.tally.problem("", &Error::Refused("a part of the work ended early".to_owned()));
        }
        Ok(())
    }

    async fn one(self: &Arc<Self>, found: Found, is_empty: bool) {
        let (path, done) = match found {
            Found::Directory { path, key } => {
                let done = self.directory(&path, &key, is_empty).await;
                (path, done)
            }
            Found::File { path, key } => {
                let done = self.file(&path, &key, is_empty).await;
                (path, done)
            }
        };
        if let Err(error) = done {
            self.tally.problem(&shown(&path), &error);
        }
    }

    /// Writes the marker of a directory, with its attributes.
    async fn directory(self: &Arc<Self>, path: &[Name], key: &str, is_empty: bool) -> Result<()> {
        let (export, owned) = (Arc::clone(self), path.to_vec());
        let mut carried = blocking(move || {
            let file = export.tree.file(&owned)?;
            let stat = rustix::fs::fstat(&file)?;
            Carried::by_file(&file, &stat)
        })
        .await?;
        let mut headers = self.stored(carried.headers());
        headers.content_type = Some(MARKER_TYPE.to_owned());
        let there = self.there(key, is_empty).await?;
        if let Some(info) = &there {
            if info.size > 0 {
                let text = "the marker of the directory has content in the bucket: its attributes are not written";
                return Err(Error::Refused(text.to_owned()));
            }
            if info.headers.metadata == headers.metadata {
                return Ok(());
            }
            // Every marker has a type.
            let carries = Headers { content_type: None, ..info.headers.clone() };
            if !carried.has_all_of(&carries) && !self.options.overwrite {
                let text = "the marker of the directory may be somebody else's: --overwrite replaces it";
                return if agree(&carries.metadata, &headers.metadata) {
                    Ok(())
                } else {
                    Err(Error::Refused(text.to_owned()))
                };
            }
        }
        add(&self.tally.attributes_left_out, carried.left_out);
        add(&self.tally.directories, 1);
        if self.options.dry_run {
            return Ok(());
        }
        let put = async |condition: &Condition| {
            let nothing = bytes::Bytes::new();
            self.s3.put(&self.key(key), nothing.into(), &headers, condition).await
        };
        match put(&condition(there.as_ref())).await {
            // On servers that keep objects in directories, the first file in it makes it.
            Err(stoa_objects::Error::Conflict { .. }) if there.is_none() => {
                let made = self.there(key, false).await?;
                if made.as_ref().is_some_and(|info| info.size > 0) {
                    return Err(Error::Refused("somebody else wrote its marker meanwhile".to_owned()));
                }
                put(&Condition::None).await?;
            }
            put => drop(put?),
        }
        Ok(())
    }

    /// What a new object carries: `headers`, and how it is stored.
    fn stored(&self, headers: Headers) -> Headers {
        let encryption = self.options.customer_key.then_some(Encryption::Customer);
        Headers { storage: Storage { encryption, ..headers.storage }, ..headers }
    }

    /// The object at `key`, if there is one.
    async fn there(&self, key: &str, is_empty: bool) -> Result<Option<ObjectInfo>> {
        if is_empty {
            return Ok(None);
        }
        match self.s3.head(&self.key(key), None).await {
            Ok(info) => Ok(Some(info)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn key(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }
}

/// Nothing is replaced but what was seen.
fn condition(there: Option<&ObjectInfo>) -> Condition {
    match there {
        None => Condition::IfAbsent,
        Some(info) => info.etag.clone().map_or(Condition::None, Condition::IfMatch),
    }
}

/// What an object that is replaced keeps: where it is stored, and how it is encrypted.
fn replacing(headers: Headers, there: Option<&ObjectInfo>) -> Headers {
    match there {
        Some(info) => Headers { storage: info.headers.storage.clone(), ..headers },
        None => headers,
    }
}

fn shown(path: &[Name]) -> String {
    path.iter().map(ToString::to_string).collect::<Vec<_>>().join("/")
}
