//! Multipart uploads: parts are written at their offsets into one temporary file.

use super::errors;
use super::layout::Layout;
use super::publish::{Temporary, publish};
use async_trait::async_trait;
use object_store::path::Path;
use object_store::{MultipartUpload, PutMode, PutPayload, PutResult, Result, UploadPart};
use parking_lot::Mutex;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

pub(super) fn begin(layout: Arc<Layout>, key: Path) -> Result<Box<dyn MultipartUpload>> {
    layout.file(&key)?;
    let temporary = Temporary::new(&layout).map_err(|error| errors::of_write(&key, error))?;
    let progress = Progress { parts_open: 0, temporary: Some(Arc::new(temporary)), completed: None };
    Ok(Box::new(Upload { layout, key, progress: Arc::new(Mutex::new(progress)), length: 0 }))
}

#[derive(Debug)]
struct Upload {
    layout: Arc<Layout>,
    key: Path,
    progress: Arc<Mutex<Progress>>,
    /// Where the next part goes.
    length: u64,
}

#[derive(Debug)]
struct Progress {
    /// Parts begun that have not been written: an upload with one of them would have a hole.
    parts_open: usize,
    temporary: Option<Arc<Temporary>>,
    /// Kept for who asks again because the answer was lost.
    completed: Option<PutResult>,
}

#[async_trait]
impl MultipartUpload for Upload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let offset = self.length;
        self.length += data.content_length() as u64;
        let temporary = {
            let mut progress = self.progress.lock();
            progress.parts_open += 1;
            progress.temporary.clone()
        };
        let (progress, key) = (Arc::clone(&self.progress), self.key.clone());
        Box::pin(async move {
            let Some(temporary) = temporary else {
                return Err(errors::invalid("the upload has ended".to_owned()));
            };
            let written = tokio::task::spawn_blocking(move || {
                let mut at = offset;
                data.iter().try_for_each(|chunk| {
                    temporary.file.write_all_at(chunk, at)?;
                    at += chunk.len() as u64;
                    Ok(())
                })
            });
            written.await?.map_err(|error: std::io::Error| errors::of_write(&key, error))?;
            progress.lock().parts_open -= 1;
            Ok(())
        })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let temporary = {
            let progress = self.progress.lock();
            if let Some(result) = &progress.completed {
                return Ok(result.clone());
            }
            if progress.parts_open > 0 {
                return Err(errors::invalid(format!("{} parts have not been written", progress.parts_open)));
            }
            progress.temporary.clone().ok_or_else(|| errors::invalid("the upload has ended".to_owned()))?
        };
        let (layout, key) = (Arc::clone(&self.layout), self.key.clone());
        let publishing = tokio::task::spawn_blocking(move || publish(&layout, &key, &temporary, &PutMode::Overwrite));
        let result = publishing.await??;
        let mut progress = self.progress.lock();
        progress.temporary = None;
        progress.completed = Some(result.clone());
        Ok(result)
    }

    async fn abort(&mut self) -> Result<()> {
        self.progress.lock().temporary = None;
        Ok(())
    }
}
