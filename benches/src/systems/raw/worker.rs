//! The process that sends raw requests.

use super::{Answer, Command, Object, PARALLEL};
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
        let puts = objects.iter().map(|object| async move {
            let content = self.content(object)?;
            self.store.put(&Path::from(object.key.as_str()), content.into()).await.context("put")
        });
        let _: Vec<_> = stream::iter(puts).buffer_unordered(parallel).try_collect().await?;
        Ok(())
    }

    async fn get(&self, objects: &[Object], parallel: usize, verify: bool) -> Result<()> {
        let gets = objects.iter().map(|object| async move {
            let found = self.store.get(&Path::from(object.key.as_str())).await?.bytes().await?;
            ensure!(found.len() == object.content.len, "{}: {} bytes", object.key, found.len());
            ensure!(!verify || found == self.content(object)?, "{}: not what was put", object.key);
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
