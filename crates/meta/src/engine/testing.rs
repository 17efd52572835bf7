//! The records of a namespace as they are, for tests: they plant damage, and see what a repair changed. Not in the product.
//!
//! Each opens the namespace, which shuts out whoever has it open.

use super::kv::Kv;
use super::limits::Limits;
use super::sealed::Fences;
use crate::Result;
use crate::record::{Key, RecordKey};
use bytes::Bytes;
use object_store::ObjectStore;
use std::collections::BTreeMap;
use std::sync::Arc;

/// All records.
///
/// # Errors
/// When the store can't be read.
pub async fn records(store: Arc<dyn ObjectStore>) -> Result<BTreeMap<Key, Bytes>> {
    let kv = Kv::open(store, 0, &Limits::of(0), Fences::Sealed).await?;
    let all = Bytes::from_static(&[0])..Bytes::from_static(&[u8::MAX]);
    let records = kv.scan(all, usize::MAX).await?;
    kv.close().await?;
    Ok(records.into_iter().collect())
}

/// Puts records, or removes those that have no value here, whatever that makes of the namespace.
///
/// # Errors
/// When the store can't be written.
pub async fn plant(store: Arc<dyn ObjectStore>, changes: Vec<(RecordKey, Option<Bytes>)>) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let kv = Kv::open(store, 0, &Limits::of(0), Fences::Sealed).await?;
    kv.write(changes.into_iter().map(|(key, value)| (key.encode(), value))).await?;
    kv.flush().await?;
    kv.close().await
}
