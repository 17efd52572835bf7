//! The same bytes as raw requests to the same server, by the client that Stoa uses: what the store itself can do.

use crate::table::Row;
use crate::workload::{ENTRIES, FILE_LEN, FILES, Workload};
use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use futures::stream::{self, StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use std::time::{Duration, Instant};
use stoa_tests::{StoreKind, TestStore, Watch, content};

/// As large as the segments of a volume, and as many at a time as keep a server busy.
const OBJECT_LEN: usize = 8 << 20;
const PARALLEL: usize = 16;

/// Measures the rows that have an equivalent.
pub(crate) fn measure(kind: StoreKind, workload: &Workload, add: &mut dyn FnMut(Row, Duration)) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let watch = Watch::start("raw requests", Duration::from_secs(3600));
    let store = TestStore::start(kind, scratch.path(), &watch)?;
    let client = client(&store)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let result = runtime.block_on(async {
        large(&client, workload, add).await?;
        small(&client, add).await?;
        list(&client, add).await
    });
    watch.stop();
    result
}

fn client(store: &TestStore) -> Result<AmazonS3> {
    let access = store.access();
    let value = |name: &str| access.env.iter().find(|(found, _)| *found == name).map(|(_, value)| value.as_str());
    let endpoint = access.args.get(1).and_then(|endpoint| endpoint.to_str()).context("the store is no S3 server")?;
    let builder = AmazonS3Builder::new()
        .with_endpoint(endpoint)
        .with_allow_http(true)
        .with_region("us-east-1")
        .with_bucket_name("volumes")
        .with_access_key_id(value("AWS_ACCESS_KEY_ID").context("no key")?)
        .with_secret_access_key(value("AWS_SECRET_ACCESS_KEY").context("no key")?)
        .with_unsigned_payload(true);
    Ok(builder.build()?)
}

async fn large(client: &AmazonS3, workload: &Workload, add: &mut dyn FnMut(Row, Duration)) -> Result<()> {
    let pieces: Vec<Bytes> = workload.large.chunks(OBJECT_LEN).map(Bytes::copy_from_slice).collect();
    let started = Instant::now();
    put_all(client, "large", pieces).await?;
    add(Row::SequentialWrite, started.elapsed());

    let count = workload.large.len().div_ceil(OBJECT_LEN);
    let started = Instant::now();
    let gets =
        stream::iter(0..count).map(|number| async move { client.get(&key("large", number)).await?.bytes().await });
    let found: Vec<Bytes> = gets.buffered(PARALLEL).try_collect().await?;
    add(Row::SequentialRead, started.elapsed());
    content::same(&found.concat(), &workload.large)?;

    let started = Instant::now();
    let gets = workload.offsets.iter().map(|&offset| async move {
        let start = (offset % OBJECT_LEN) as u64;
        client.get_range(&key("large", offset / OBJECT_LEN), start..start + FILE_LEN as u64).await
    });
    // One after the other: a random reader waits for each.
    let found: Vec<Bytes> = stream::iter(gets).buffered(1).try_collect().await?;
    add(Row::RandomRead, started.elapsed());
    for (page, &offset) in found.iter().zip(&workload.offsets) {
        content::same(page, workload.large.get(offset..offset + FILE_LEN).context("offset")?)?;
    }
    Ok(())
}

async fn small(client: &AmazonS3, add: &mut dyn FnMut(Row, Duration)) -> Result<()> {
    let contents = (0..FILES).map(|number| Workload::small(number).into()).collect();
    let started = Instant::now();
    put_all(client, "small", contents).await?;
    add(Row::Create, started.elapsed());
    Ok(())
}

async fn list(client: &AmazonS3, add: &mut dyn FnMut(Row, Duration)) -> Result<()> {
    put_all(client, "entries", vec![Bytes::new(); ENTRIES]).await?;
    let started = Instant::now();
    let found = client.list(Some(&Path::from("entries"))).try_fold(0, |count, _| async move { Ok(count + 1) }).await?;
    add(Row::List, started.elapsed());
    ensure!(found == ENTRIES, "{found} objects listed");
    Ok(())
}

async fn put_all(client: &AmazonS3, dir: &str, objects: Vec<Bytes>) -> Result<()> {
    let puts = objects.into_iter().enumerate();
    let puts = puts.map(|(number, bytes)| async move { client.put(&key(dir, number), PutPayload::from(bytes)).await });
    let _: Vec<_> = stream::iter(puts).buffer_unordered(PARALLEL).try_collect().await?;
    Ok(())
}

fn key(dir: &str, number: usize) -> Path {
    Path::from(format!("{dir}/{number}"))
}
