//! Finds out whether a store can do what a volume needs.

use crate::{Error, Result};
use bytes::Bytes;
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutOptions, UpdateVersion};

/// Probes, with small objects under a name of their own that are removed afterwards, what a volume needs of a store: put
/// and get, ranges, listing, create-if-absent, update-if-unchanged (the tag tells), and delete.
///
/// Give it a store that retries for a bounded time only, or it waits for a store that is away.
///
/// # Errors
/// [`Error::Unsupported`] names what the store lacks; [`Error::Corrupt`] when it gives back something else than was put;
/// anything else as the store answers.
pub async fn probe(store: &dyn ObjectStore) -> Result<()> {
    let directory = Path::from(format!(".stoa-probe-{}", uuid::Uuid::new_v4().simple()));
    let key = directory.clone().join("object");
    let result = probe_all(store, &directory, &key).await;
    let removed = match store.delete(&key).await {
        Err(object_store::Error::NotFound { .. }) | Ok(()) => Ok(()),
        Err(error) => Err(Error::from_store(format!("probe: deleting {key}"), &error)),
    };
    result?;
    removed?;
    match store.head(&key).await {
        Err(object_store::Error::NotFound { .. }) => Ok(()),
        Err(error) => Err(Error::from_store(format!("probe: looking for {key} after its deletion"), &error)),
        Ok(_) => Err(lacks("DELETE: the object is still there after a delete that succeeded")),
    }
}

const FIRST: &[u8] = b"the first object of a probe";
const SECOND: &[u8] = b"the second, which replaces the first";

fn lacks(what: &str) -> Error {
    Error::Unsupported { op: "probe".to_owned(), detail: format!("the store lacks what a volume needs: {what}") }
}

async fn probe_all(store: &dyn ObjectStore, directory: &Path, key: &Path) -> Result<()> {
    let at = |what: &str| format!("probe: {what} {key}");
    let created = create(store, key, FIRST).await.map_err(|error| Error::from_store(at("creating"), &error))?;
    read_back(store, key, FIRST).await?;
    read_ranges(store, key).await?;

    let listed: Vec<_> =
        store.list(Some(directory)).try_collect().await.map_err(|e| Error::from_store(at("listing"), &e))?;
    match listed.as_slice() {
        [one] if one.location == *key && one.size == FIRST.len() as u64 => {}
        _ => return Err(lacks("LIST (consistent): an object just put is not listed, or with another size")),
    }

    match create(store, key, SECOND).await {
        Err(object_store::Error::AlreadyExists { .. }) => {}
        Err(error) => return Err(Error::from_store(at("creating again"), &error)),
        Ok(_) => {
            return Err(lacks(
                "If-None-Match: * on PUT (create-if-absent): the store ignores it and overwrote an existing object, so two \
                 mounts could not be kept apart",
            ));
        }
    }
    read_back(store, key, FIRST).await?;
    update(store, key, created).await
}

async fn create(store: &dyn ObjectStore, key: &Path, bytes: &'static [u8]) -> object_store::Result<UpdateVersion> {
    let opts = PutOptions::from(PutMode::Create);
    Ok(store.put_opts(key, Bytes::from_static(bytes).into(), opts).await?.into())
}

async fn update(store: &dyn ObjectStore, key: &Path, created: UpdateVersion) -> Result<()> {
    let at = |what: &str| format!("probe: {what} {key}");
    if created.e_tag.is_none() && created.version.is_none() {
        return Err(lacks("an ETag in the answer to PUT"));
    }
    let put = |bytes: &'static [u8], version: UpdateVersion| {
        store.put_opts(key, Bytes::from_static(bytes).into(), PutOptions::from(PutMode::Update(version)))
    };
    put(SECOND, created.clone()).await.map_err(|error| Error::from_store(at("updating (If-Match on PUT)"), &error))?;
    read_back(store, key, SECOND).await?;
    match put(FIRST, created).await {
        Err(object_store::Error::Precondition { .. }) => read_back(store, key, SECOND).await,
        Err(error) => Err(Error::from_store(at("updating with an old tag"), &error)),
        Ok(_) => Err(lacks("If-Match on PUT (update-if-unchanged): the store ignores it and overwrote a newer object")),
    }
}

async fn read_back(store: &dyn ObjectStore, key: &Path, expected: &[u8]) -> Result<()> {
    let op = format!("probe: reading {key}");
    let read = async { store.get(key).await?.bytes().await };
    let found = read.await.map_err(|error| Error::from_store(op.as_str(), &error))?;
    if found == expected {
        return Ok(());
    }
    Err(Error::Corrupt { op, detail: "the store gave back something else than was put".to_owned() })
}

async fn read_ranges(store: &dyn ObjectStore, key: &Path) -> Result<()> {
    let length = FIRST.len() as u64;
    let cases = [
        (GetRange::Bounded(4..9), FIRST.get(4..9)),
        (GetRange::Offset(length - 5), FIRST.get(FIRST.len() - 5..)),
        (GetRange::Suffix(5), FIRST.get(FIRST.len() - 5..)),
    ];
    for (range, expected) in cases {
        let op = format!("probe: reading {key} in part ({range})");
        let options = GetOptions { range: Some(range), ..GetOptions::default() };
        let read = async { store.get_opts(key, options).await?.bytes().await };
        let found = read.await.map_err(|error| Error::from_store(op.as_str(), &error))?;
        if Some(found.as_ref()) != expected {
            return Err(Error::Corrupt {
                op,
                detail: "the store gave back another part than was asked for".to_owned(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
