//! Somebody else has written what a draft was to replace: theirs keeps the name, and what was written here is kept beside it.

use super::{Draft, Sink};
use crate::error::{told, told_of_read};
use crate::extents::Place;
use crate::found::Version;
use crate::parts::Parts;
use crate::rename::new_id;
use crate::source::{Raw, cached, has, pieces};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;
use stoa_objects::Error as ObjectsError;
use stoa_objects::s3::limits::{COPY_BYTES_MAX, KEY_BYTES_MAX};
use stoa_objects::s3::{Condition, Headers, ObjectInfo, Source, Upload, Written};
use stoa_vfs::{Error, Result};

/// How often a name is tried that others write too.
const ATTEMPTS_MAX: u32 = 5;

/// So many pieces that are not cached are asked for before the rest is taken to be gone.
const MISSES_MAX: u32 = 64;

impl Draft {
    /// Keeps what was written under a name of its own, and says in the log which.
    pub(super) async fn rescue(&mut self, sink: &Sink<'_>) {
        let key = Arc::clone(&self.key);
        match self.keep_beside(sink).await {
            Ok((beside, 0)) => {
                tracing::error!(%key, %beside, "somebody else wrote this object meanwhile: theirs stays, and what was written here is kept beside it");
                self.conflict = Some(beside);
            }
            Ok((beside, missing)) => {
                tracing::error!(%key, %beside, missing, "somebody else replaced this object while it was changed here: theirs stays, and what was \
                    written here is kept beside it, with zeros for those bytes of the old content that were not written, and are nowhere any more");
                self.conflict = Some(beside);
            }
            Err(error) => {
                tracing::error!(%key, %error, "somebody else wrote this object meanwhile, and what was written here could not be kept beside it");
            }
        }
    }

    /// The name that it has got, and how many bytes are missing.
    pub(super) async fn keep_beside(&mut self, sink: &Sink<'_>) -> Result<(Arc<str>, u64)> {
        let key = Arc::clone(&self.key);
        if self.is_sent(0..u64::MAX) {
            let (theirs, missing) = self.change_places(sink).await?;
            let aside = theirs.as_ref().map(|(aside, _)| Arc::clone(aside));
            let beside = self.change_back(sink, &key, theirs, missing).await;
            return beside
                .map(|beside| (beside, missing))
                .map_err(|error| has_the_name(&key, aside.as_deref(), &error));
        }
        if self.replaces.as_ref().is_some_and(|replaced| replaced.version.is_some()) {
            match self.make_beside(sink, &key, "").await {
                // That version is gone as well.
                Err(Error::Stale) => {}
                made => return made.map(|beside| (beside, 0)),
            }
        }
        let missing = self.salvage(sink).await?;
        self.make_beside(sink, &key, mark(missing)).await.map(|beside| (beside, missing))
    }

    /// Makes the object under the first name that nobody has.
    pub(super) async fn make_beside(&mut self, sink: &Sink<'_>, key: &Arc<str>, mark: &str) -> Result<Arc<str>> {
        self.sent.clear();
        let mut made = Err(Error::Stale);
        for attempt in 1..=ATTEMPTS_MAX {
            // They belong to another name.
            if let Some(parts) = self.parts.take() {
                parts.abort().await;
            }
            self.key = beside(key, self.word, sink.host, attempt, mark);
            made = self.make(sink, &Condition::IfAbsent).await.map(|_| Arc::clone(&self.key));
            if made != Err(Error::Stale) {
                break;
            }
        }
        self.key = Arc::clone(key);
        made
    }

    /// Gets hold of what is kept of the replaced object and cached. What can't be had is zeros; says how much.
    async fn salvage(&mut self, sink: &Sink<'_>) -> Result<u64> {
        let Some(replaced) = self.replaces.clone() else { return Ok(0) };
        let version =
            Version { key: Arc::clone(&replaced.key), etag: Some(replaced.etag), size: replaced.size, draft: 0 };
        let Some(object) = cached(&version) else { return Ok(0) };
        let kept = self.extents.runs(0..u64::MAX).into_iter().filter(|(_, place)| *place == Place::Kept);
        let (mut missing, mut misses) = (0, 0);
        for (run, _) in kept {
            for piece in pieces(run.clone(), version.size) {
                let end = piece.offset + u64::from(piece.len);
                let range = piece.offset.max(run.start)..end.min(run.end);
                let read = match misses < MISSES_MAX {
                    true => {
                        sink.cache.read(&object, &[piece], Arc::new(Raw)).await.map_err(|error| told_of_read(&error))
                    }
                    false => Err(Error::Stale),
                };
                match read {
                    Ok(read) => {
                        let data = within(read.concat().into(), range.start - piece.offset, &range);
                        self.spill(sink).await?.write(vec![(range.start, data)]).await?;
                        self.extents.set(range, Place::Spilled);
                    }
                    Err(Error::Stale) => {
                        (missing, misses) = (missing + range.end - range.start, misses + 1);
                        self.extents.set(range, Place::Zeros);
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(missing)
    }

    /// As [`Draft::salvage`], if the replaced object can't be copied from any more.
    async fn salvage_if_gone(&mut self, sink: &Sink<'_>) -> Result<u64> {
        let Some(replaced) = self.replaces.clone() else { return Ok(0) };
        if !self.extents.any(0..u64::MAX, |place| *place == Place::Kept) {
            return Ok(0);
        }
        match has(sink.s3, &replaced.key, replaced.version.as_deref(), &replaced.etag).await {
            Ok(true) => Ok(0),
            // Whatever the reason is: this is the last chance to keep what was written.
            Ok(false) | Err(_) => self.salvage(sink).await,
        }
    }

    /// What was sent can become an object only under its own name. So theirs is copied aside, and replaced under the condition that it is
    /// still the same: neither is ever lost. Says where theirs is, if there is any, and how many bytes of ours are missing.
    async fn change_places(&mut self, sink: &Sink<'_>) -> Result<(Option<(Arc<str>, ObjectInfo)>, u64)> {
        let mut missing = 0;
        for attempt in 1..=ATTEMPTS_MAX {
            // Once it is gone, nothing is kept of it any more.
            missing += self.salvage_if_gone(sink).await?;
            let (theirs, condition) = match sink.s3.head(&self.key, None).await {
                Ok(info) => {
                    let etag = info.etag.clone().ok_or(Error::Stale)?;
                    let aside = beside(&self.key, self.word, sink.host, attempt, "-theirs");
                    copy_of(sink, &self.key, &info, &aside, &Condition::IfAbsent).await?;
                    // Whoever ends this process from here on finds out where it is.
                    tracing::warn!(key = %self.key, %aside, "what has the name makes room for what was written here, until that is kept beside it: a copy stays aside");
                    (Some((aside, info)), Condition::IfMatch(etag))
                }
                Err(error) if error.is_not_found() => (None, Condition::IfAbsent),
                Err(error) => return Err(told(error)),
            };
            let made = self.make(sink, &condition).await;
            match made {
                Ok(written) => {
                    self.begins_with(written);
                    return Ok((theirs, missing));
                }
                Err(error) => {
                    if let Some((aside, info)) = &theirs {
                        self.remove_aside(sink, aside, info).await?;
                    }
                    if error != Error::Stale {
                        return Err(error);
                    }
                }
            }
        }
        Err(Error::Stale)
    }

    /// Keeps ours beside, and gives them their name back. Theirs stays aside, and ours under the name, if ours can't be kept elsewhere.
    async fn change_back(
        &mut self,
        sink: &Sink<'_>,
        key: &Arc<str>,
        theirs: Option<(Arc<str>, ObjectInfo)>,
        missing: u64,
    ) -> Result<Arc<str>> {
        let beside = self.make_beside(sink, key, mark(missing)).await?;
        self.give_back(sink, key, theirs).await?;
        Ok(beside)
    }

    /// Removes the copy of theirs if that still has the name: ours may have taken it, and only the answer was lost.
    async fn remove_aside(&self, sink: &Sink<'_>, aside: &str, theirs: &ObjectInfo) -> Result<()> {
        let etag = theirs.etag.as_deref().unwrap_or_default();
        if has(sink.s3, &self.key, None, etag).await.is_ok_and(|has| has) {
            return sink.s3.delete(aside, None, None).await.map_err(told);
        }
        tracing::error!(key = %self.key, aside, "what somebody else wrote may not be under its name any more: a copy of it stays");
        Ok(())
    }

    /// Gives them their name back.
    async fn give_back(&self, sink: &Sink<'_>, key: &str, theirs: Option<(Arc<str>, ObjectInfo)>) -> Result<()> {
        let ours = self.replaces.as_ref().map(|replaced| replaced.etag.to_string());
        let Some((aside, info)) = theirs else {
            return sink.s3.delete(key, ours.as_deref(), None).await.map_err(told);
        };
        let copied = sink.s3.head(&aside, None).await.map_err(told)?;
        let info = ObjectInfo { etag: copied.etag, version: copied.version, ..info };
        copy_of(sink, &aside, &info, key, &ours.map_or(Condition::IfAbsent, Condition::IfMatch)).await?;
        if let Err(error) = sink.s3.delete(&aside, None, None).await {
            tracing::warn!(%error, key, %aside, "what made room has its name again, and the copy of it can't be removed");
        }
        Ok(())
    }
}

/// What is told when ours has got the name, and could not be kept elsewhere or leave it again.
fn has_the_name(key: &str, aside: Option<&str>, error: &Error) -> Error {
    let before =
        aside.map_or_else(|| "nothing had it before".to_owned(), |aside| format!("what had it is in {aside:?}"));
    Error::Io(format!(
        "what was written had to take the name {key:?} for a while, and has not left it: {before}: {error}"
    ))
}

/// Copies an object of any length, with what it carries.
async fn copy_of(sink: &Sink<'_>, from: &str, info: &ObjectInfo, to: &str, condition: &Condition) -> Result<Written> {
    if info.size == 0 {
        return sink.s3.put(to, Bytes::new().into(), &info.headers, condition).await.map_err(told);
    }
    let source = Source { key: from.to_owned(), version: info.version.clone(), if_match: info.etag.clone() };
    let upload = begin_tagged(sink, from, to, &info.headers).await.map_err(told)?;
    let parts = Parts::of(sink.s3, upload, sink.traffic);
    parts.copy_all(&source, info.size, COPY_BYTES_MAX, condition).await.map_err(told)
}

/// Begins an upload of copies of `from`, with its tags if these can be read and written: the content is worth more.
async fn begin_tagged(sink: &Sink<'_>, from: &str, to: &str, headers: &Headers) -> stoa_objects::Result<Upload> {
    let tagged = match sink.s3.get_tags(from).await {
        Ok(tags) if tags.is_empty() => None,
        Ok(tags) => Some(sink.s3.create_upload_marked(to, headers, &tags, &new_id()).await),
        Err(ObjectsError::Unsupported { .. }) => None,
        Err(error) => Some(Err(error)),
    };
    match tagged {
        Some(Ok(upload)) => return Ok(upload),
        Some(Err(error)) => tracing::warn!(%error, from, to, "a copy does not have the tags of what it is of"),
        None => {}
    }
    sink.s3.create_upload_of_copies(to, headers).await
}

/// What the name of what was written ends with.
fn mark(missing: u64) -> &'static str {
    if missing > 0 { "-incomplete" } else { "" }
}

fn within(piece: Bytes, skip: u64, range: &Range<u64>) -> Bytes {
    let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(piece.len());
    piece.slice(at(skip)..at(skip + range.end - range.start))
}

/// `name.conflict-host-time`: the name of what was written to `key` here.
fn beside(key: &str, word: &str, host: &str, attempt: u32, mark: &str) -> Arc<str> {
    let time = DateTime::<Utc>::from(SystemTime::now()).format("%Y%m%dT%H%M%SZ");
    let again = if attempt > 1 { format!("-{attempt}") } else { String::new() };
    let suffix = format!(".{word}-{host}-{time}{again}{mark}");
    let fits = |(at, character): &(usize, char)| at + character.len_utf8() + suffix.len() <= KEY_BYTES_MAX;
    let end = key.char_indices().take_while(fits).last().map_or(0, |(at, character)| at + character.len_utf8());
    format!("{}{suffix}", key.get(..end).unwrap_or_default()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_key_is_cut_between_characters() {
        for len in [1, 950, 1000, 1024] {
            let key = "ü".repeat(len / 2);
            let beside = beside(&key, "conflict", "host", 2, "-incomplete");
            assert!(beside.len() <= KEY_BYTES_MAX && beside.contains(".conflict-host-2"), "{beside}");
        }
    }
}
