//! Flushing: when dirty data and pending changes go into the store.

use crate::file::{File, FileState};
use crate::log::{Home, INLINE_BYTES, inline_extents};
use crate::volume::Volume;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;
use stoa_meta::FileUpdate;
use stoa_vfs::{Error, Result};

/// How long the old content of a file that was cut stays safe while its writer has not closed it.
const REPLACING_MAX: Duration = Duration::from_secs(30);

/// Small files that are flushed at once share a segment when they have more data than this: the namespace would write it to its log,
/// to a table, and again whenever tables are merged.
const TOGETHER_BYTES: u64 = 64 << 10;

impl Volume {
    /// Publishes everything that was written to a file. Durable only after a commit.
    pub(crate) async fn publish_file(&self, file: &Arc<File>) -> Result<()> {
        let (direct, last) = {
            let mut state = file.lock();
            state.check()?;
            let alone = needs_no_segment(&state);
            let direct = match state.freeze() {
                Some(frozen) if alone => Some(frozen),
                Some(frozen) => {
                    self.log.submit(Arc::clone(file), frozen, Home::Namespace);
                    None
                }
                None => None,
            };
            (direct, state.frozen.back().cloned())
        };
        let Some(last) = last else {
            self.files.cleaned(file);
            return Ok(());
        };
        let Some(frozen) = direct else {
            self.log.drain().await?;
            return self.log.settle(file, &last).await;
        };
        // As a task: the layer is in the file's list already, so its publication must not be abandoned halfway.
        let (log, file) = (Arc::clone(&self.log), Arc::clone(file));
        let publish = tokio::spawn(async move {
            let extents = inline_extents(&frozen);
            let update = FileUpdate { ino: file.ino, extents, size: frozen.size, modified: None };
            if let Err(error) = log.publish_layer(&file, &frozen, update).await {
                log.fail(error.clone());
                return Err(error);
            }
            file.lock().check()
        });
        publish.await.unwrap_or_else(|error| {
            let error = Error::Io(format!("publishing ended early: {error}"));
            self.log.fail(error.clone());
            Err(error)
        })
    }

    /// Sends what files have waiting into the log, or publishes it: a few small files one by one, without a segment.
    async fn flush_files(&self, files: Vec<Arc<File>>) -> Result<()> {
        let small_bytes: u64 = files.iter().map(|file| small_bytes(&file.lock())).sum();
        let home = if small_bytes > TOGETHER_BYTES { Home::Segment } else { Home::Namespace };
        let mut waiting = Vec::new();
        for file in files {
            let (alone, last) = {
                let mut state = file.lock();
                let alone = home == Home::Namespace && needs_no_segment(&state);
                if !alone && let Some(frozen) = state.freeze() {
                    self.log.submit(Arc::clone(&file), frozen, home);
                }
                (alone, state.frozen.back().cloned())
            };
            match last {
                _ if alone => self.publish_file(&file).await?,
                Some(last) => waiting.push((file, last)),
                None => self.files.cleaned(&file),
            }
        }
        if waiting.is_empty() {
            return Ok(());
        }
        self.log.drain().await?;
        for (file, last) in waiting {
            self.log.settle(&file, &last).await?;
        }
        Ok(())
    }

    /// Makes everything durable that was done before.
    pub(crate) async fn sync_all(&self) -> Result<()> {
        self.check()?;
        self.unless_refused(self.flush_files(self.files.all_dirty())).await?;
        self.commit().await
    }

    /// Publishes on the way to a commit. That takes room among the pending changes, and reading, and neither is to be had while the
    /// store refuses the namespace's objects: then it is left to go on by itself.
    pub(crate) async fn unless_refused(&self, publishing: impl Future<Output = Result<()>>) -> Result<()> {
        tokio::select! {
            biased;
            published = publishing => published,
            refused = self.meta.refusal() => {
                self.note(&refused);
                Err(refused.into())
            }
        }
    }

    /// Makes every pending change of the namespace durable.
    ///
    /// # Errors
    /// While the store refuses; the commit goes on then. After any other, nothing can be made durable any more.
    pub(crate) async fn commit(&self) -> Result<()> {
        let committed = self.meta.commit().await;
        self.commits.fetch_add(1, Ordering::Relaxed);
        committed.map_err(|error| {
            self.note(&error);
            let refused = matches!(error, stoa_meta::Error::Refused(_));
            let error = Error::from(error);
            if !refused {
                self.log.fail(error.clone());
            }
            error
        })
    }

    /// Like [`Volume::commit`], but waits for as long as the store refuses.
    pub(crate) async fn commit_patiently(&self) -> Result<()> {
        while let Err(error) = self.commit().await {
            if self.check().is_err() {
                return Err(error);
            }
            tokio::time::sleep(self.commit_interval).await;
        }
        Ok(())
    }

    /// One round of the flusher.
    async fn flush_due(&self, all: bool) -> Result<()> {
        let is_due = |file: &Arc<File>| {
            let state = file.lock();
            let age = state.dirty_since.map_or(Duration::MAX, |since| since.elapsed());
            all || (age >= self.commit_interval && !(state.replacing && age < REPLACING_MAX))
        };
        let due = self.files.all_dirty().into_iter().filter(is_due).collect();
        self.flush_files(due).await?;
        self.commit_pending().await
    }

    async fn commit_pending(&self) -> Result<()> {
        if self.meta.uncommitted() > 0 { self.commit().await } else { Ok(()) }
    }
}

/// Whether what is waiting can be published at once: it fits into the namespace, and nothing older is on its way.
fn needs_no_segment(state: &FileState) -> bool {
    state.frozen.is_empty() && state.active.data_bytes() <= INLINE_BYTES
}

/// Bytes that could be published without a segment.
fn small_bytes(state: &FileState) -> u64 {
    if needs_no_segment(state) { state.active.data_bytes() } else { 0 }
}

/// Flushes and commits what is due, until the volume is gone. Changes of the namespace do not wait for data that takes long to
/// upload, or is refused: they have a loop of their own.
pub(crate) async fn run(volume: Weak<Volume>) {
    futures::join!(flush_all_due(&volume), commit_all_due(&volume));
}

async fn flush_all_due(volume: &Weak<Volume>) {
    loop {
        let pressed = {
            let Some(volume) = volume.upgrade() else { return };
            tokio::select! {
                () = tokio::time::sleep(volume.commit_interval) => false,
                () = volume.pressure.notified() => true,
            }
        };
        let Some(volume) = volume.upgrade() else { return };
        if volume.files.is_clean() {
            continue;
        }
        if let Err(error) = volume.flush_due(pressed).await {
            volume.note(&error);
            if volume.check().is_err() {
                return;
            }
            tokio::time::sleep(volume.commit_interval).await;
        }
    }
}

async fn commit_all_due(volume: &Weak<Volume>) {
    loop {
        let Some(wait) = volume.upgrade().map(|volume| volume.commit_interval) else { return };
        tokio::time::sleep(wait).await;
        let Some(volume) = volume.upgrade() else { return };
        if volume.commit_pending().await.is_err() && volume.check().is_err() {
            return;
        }
    }
}
