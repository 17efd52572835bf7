//! The process that sends raw requests.

use super::{Answer, Command, OBJECT_BYTES, Object, PARALLEL};
use crate::data::Data;
use crate::store::{BUCKET, REGION};
use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use futures::stream::{self, StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;
use stoa_objects::{ConnectOptions, Location, connect};

/// Follows commands from stdin to its end.
pub(crate) fn work(endpoint: &str) -> Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let options = ConnectOptions {
        endpoint: Some(endpoint.to_owned()),
        region: Some(REGION.to_owned()),
        path_style: Some(true),
        ..ConnectOptions::default()
    };
    let location = Location::parse(&format!("s3://{BUCKET}"))?;
    let store = runtime.block_on(connect(&location, &options))?.store;
    let mut worker = Worker { store, data: Bytes::new() };
    for line in std::io::stdin().lines() {
        let done = runtime.block_on(worker.run(serde_json::from_str(&line?)?));
        let answer = done.unwrap_or_else(|error| Answer { failure: Some(format!("{error:#}")), ..Answer::default() });
        let mut stdout = std::io::stdout().lock();
        serde_json::to_writer(&mut stdout, &answer)?;
        stdout.write_all(b"\n")?;
        stdout.flush()?;
    }
    Ok(())
}

struct Worker {
    store: Arc<dyn ObjectStore>,
    data: Bytes,
}

impl Worker {
    async fn run(&mut self, command: Command) -> Result<Answer> {
        match command {
            Command::Load { len, text } => {
                let data = Data::new(len);
                self.data = Bytes::copy_from_slice(if text { data.text() } else { data.random() });
            }
            Command::Put { objects, parallel } => self.put(&objects, parallel).await?,
            Command::Get { objects, parallel } => self.get(&objects, parallel, false).await?,
            Command::Verify { objects } => self.get(&objects, PARALLEL, true).await?,
            Command::GetPages { pages } => return self.pages(&pages).await,
            Command::List { prefix } => {
                let count =
                    self.store.list(Some(&Path::from(prefix))).try_fold(0, async |count, _| Ok(count + 1)).await?;
                return Ok(Answer { count, ..Answer::default() });
            }
        }
        Ok(Answer::default())
    }

    async fn put(&self, objects: &[Object], parallel: usize) -> Result<()> {
        let parts = parallel / objects.len().clamp(1, parallel);
        let puts = objects.iter().map(|object| async move {
            let (path, content) = (Path::from(object.key.as_str()), self.content(object)?);
            if content.len() > OBJECT_BYTES {
                return self.put_parts(&path, &content, parts).await;
            }
            self.store.put(&path, content.into()).await.context("put").map(drop)
        });
        let _: Vec<_> = stream::iter(puts).buffer_unordered(parallel).try_collect().await?;
        Ok(())
    }

    async fn put_parts(&self, path: &Path, content: &Bytes, parallel: usize) -> Result<()> {
        let mut upload = self.store.put_multipart(path).await?;
        let starts = (0..content.len()).step_by(OBJECT_BYTES);
        let parts: Vec<_> = starts
            .map(|start| upload.put_part(content.slice(start..content.len().min(start + OBJECT_BYTES)).into()))
            .collect();
        let _: Vec<()> = stream::iter(parts).buffer_unordered(parallel).try_collect().await?;
        upload.complete().await.context("completing an upload").map(drop)
    }

    async fn get_ranges(&self, path: &Path, len: usize, parallel: usize) -> Result<Vec<Bytes>> {
        let starts = (0..len).step_by(OBJECT_BYTES);
        let gets = starts.map(|start| self.store.get_range(path, start as u64..len.min(start + OBJECT_BYTES) as u64));
        Ok(stream::iter(gets).buffered(parallel).try_collect().await?)
    }

    async fn get(&self, objects: &[Object], parallel: usize, verify: bool) -> Result<()> {
        let ranges = parallel / objects.len().clamp(1, parallel);
        let gets = objects.iter().map(|object| async move {
            let (path, len) = (Path::from(object.key.as_str()), object.content.len);
            let found = match len > OBJECT_BYTES {
                true => self.get_ranges(&path, len, ranges).await?,
                false => vec![self.store.get(&path).await?.bytes().await?],
            };
            let found_len: usize = found.iter().map(Bytes::len).sum();
            ensure!(found_len == len, "{}: {found_len} bytes", object.key);
            ensure!(!verify || found.concat() == self.content(object)?, "{}: not what was put", object.key);
            Ok(())
        });
        let _: Vec<()> = stream::iter(gets).buffer_unordered(parallel).try_collect().await?;
        Ok(())
    }

    /// One after the other: a reader at random waits for each.
    async fn pages(&self, pages: &[(Object, u64)]) -> Result<Answer> {
        let mut answer = Answer::default();
        for (object, offset) in pages {
            let range = *offset..*offset + object.content.len as u64;
            let started = Instant::now();
            let found = self.store.get_range(&Path::from(object.key.as_str()), range).await?;
            answer.seconds.push(started.elapsed().as_secs_f64());
            ensure!(found == self.content(object)?, "{}: not what was put", object.key);
        }
        Ok(answer)
    }

    fn content(&self, object: &Object) -> Result<Bytes> {
        let (start, len) = (object.content.start, object.content.len);
        ensure!(start + len <= self.data.len(), "a slice beyond the data");
        Ok(self.data.slice(start..start + len))
    }
}
