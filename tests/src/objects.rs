//! Objects in a test's store, written by another client than the mount.

use crate::TestStore;
use anyhow::{Context, Result};
use futures::TryStreamExt;
use std::collections::BTreeMap;
use std::path::Path;
use stoa_objects::ConnectOptions;
use stoa_objects::s3::{Condition, CustomerKey, Headers, List, Listed, ObjectInfo, Read, S3Bucket};
use stoa_objects::testing::s3_bucket;
use tokio::runtime::Runtime;

/// The bucket of a store, and the prefix of what a test mounts.
#[derive(Debug)]
pub struct Objects {
    s3: S3Bucket,
    prefix: String,
    runtime: Runtime,
}

impl Objects {
    /// Those of `store`.
    ///
    /// # Errors
    /// If it is no S3 server.
    pub fn of(store: &TestStore) -> Result<Self> {
        Self::with(store, None)
    }

    /// As [`Objects::of`], for a client that has the customer's key in `file` (SSE-C). It reads objects that are not encrypted with
    /// it, too, and writes none that are.
    ///
    /// # Errors
    /// As [`Objects::of`], and if the file holds no key.
    pub fn with_key(store: &TestStore, file: &Path) -> Result<Self> {
        Self::with(store, Some(CustomerKey::read(file)?))
    }

    fn with(store: &TestStore, customer_key: Option<CustomerKey>) -> Result<Self> {
        let url =
            store.url().to_str().and_then(|url| url.strip_prefix("s3://")).context("this test needs an S3 server")?;
        let (bucket, prefix) = url.split_once('/').context("no prefix")?;
        let access = store.access();
        let endpoint = access.endpoint().context("no endpoint")?;
        let [key, secret] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].map(|name| access.variable(name));
        let options = ConnectOptions {
            endpoint: Some(endpoint),
            ca_file: access.ca_file(),
            customer_key,
            ..ConnectOptions::default()
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let s3 = s3_bucket(bucket, &options, key.context("no key")?, secret.context("no secret")?, None)?;
        Ok(Self { s3, prefix: format!("{prefix}/"), runtime })
    }

    /// Those of another prefix of the same bucket, which ends with a slash or is empty.
    #[must_use]
    pub fn below(self, prefix: &str) -> Self {
        Self { prefix: prefix.to_owned(), ..self }
    }

    /// What to call them on the command line.
    #[must_use]
    pub fn url(&self) -> String {
        format!("s3://{}/{}", self.s3.name(), self.prefix.trim_end_matches('/'))
    }

    /// What is known of an object; `None` if there is none.
    ///
    /// # Errors
    /// If the server refuses it.
    pub fn info(&self, key: &str) -> Result<Option<ObjectInfo>> {
        match self.runtime.block_on(self.s3.head(&format!("{}{key}", self.prefix), None)) {
            Err(error) if error.is_not_found() => Ok(None),
            info => Ok(Some(info?)),
        }
    }

    /// Writes an object; the prefix comes before its key.
    ///
    /// # Errors
    /// If the server refuses it.
    pub fn put(&self, key: &str, bytes: &[u8]) -> Result<()> {
        self.put_with(key, bytes, &[])
    }

    /// Writes an object with user metadata.
    ///
    /// # Errors
    /// If the server refuses it.
    pub fn put_with(&self, key: &str, bytes: &[u8], metadata: &[(&str, &str)]) -> Result<()> {
        let key = format!("{}{key}", self.prefix);
        let metadata: BTreeMap<_, _> =
            metadata.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let headers = Headers { metadata, ..Headers::default() };
        let put = self.s3.put(&key, bytes.to_vec().into(), &headers, &Condition::None);
        self.runtime.block_on(put).with_context(|| key.clone())?;
        Ok(())
    }

    /// Reads an object; `None` if there is none.
    ///
    /// # Errors
    /// If the server refuses it.
    pub fn get(&self, key: &str) -> Result<Option<Vec<u8>>> {
        let (key, mut content) = (format!("{}{key}", self.prefix), Vec::new());
        self.runtime.block_on(async {
            let mut got = match self.s3.get(&key, &Read::default()).await {
                Err(error) if error.is_not_found() => return Ok(None),
                got => got?,
            };
            while let Some(bytes) = got.body.try_next().await? {
                content.extend_from_slice(&bytes);
            }
            Ok(Some(content))
        })
    }

    /// Every key, without the prefix.
    ///
    /// # Errors
    /// If the server refuses it.
    pub fn keys(&self) -> Result<Vec<String>> {
        let (mut list, mut keys) = (List { prefix: self.prefix.clone(), ..List::default() }, Vec::new());
        let key = |object: Listed| object.key.strip_prefix(&self.prefix).map(str::to_owned);
        loop {
            let page = self.runtime.block_on(self.s3.list(&list))?;
            keys.extend(page.objects.into_iter().filter_map(key));
            match page.next {
                Some(next) => list.continuation = Some(next),
                None => return Ok(keys),
            }
        }
    }

    /// Begins an upload that nobody completes, as a program does that is killed.
    ///
    /// # Errors
    /// If the server refuses it.
    pub fn abandon_upload(&self, key: &str) -> Result<()> {
        let key = format!("{}{key}", self.prefix);
        self.runtime.block_on(self.s3.create_upload(&key, &Headers::default())).map(drop).map_err(Into::into)
    }

    /// How many uploads were begun and neither completed nor aborted.
    ///
    /// # Errors
    /// If the server refuses to say it.
    pub fn uploads(&self) -> Result<usize> {
        self.uploads_of("")
    }

    /// How many of those are of keys that begin so; on `MinIO`, of this key.
    ///
    /// # Errors
    /// If the server refuses to say it.
    pub fn uploads_of(&self, key: &str) -> Result<usize> {
        let prefix = format!("{}{key}", self.prefix);
        let page = self.runtime.block_on(self.s3.list_uploads(&prefix, None))?;
        Ok(page.uploads.iter().filter(|upload| key.is_empty() || upload.key == prefix).count())
    }

    /// What an object carries beside its bytes.
    ///
    /// # Errors
    /// If there is none.
    pub fn headers(&self, key: &str) -> Result<Headers> {
        Ok(self.runtime.block_on(self.s3.head(&format!("{}{key}", self.prefix), None))?.headers)
    }

    /// Removes an object.
    ///
    /// # Errors
    /// If the server refuses it.
    pub fn delete(&self, key: &str) -> Result<()> {
        Ok(self.runtime.block_on(self.s3.delete(&format!("{}{key}", self.prefix), None, None))?)
    }
}
