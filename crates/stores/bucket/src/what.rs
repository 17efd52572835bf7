//! Which objects a command means, and what the server lists of them beside what everybody sees.

use futures::{Stream, TryStreamExt, future, stream};
use stoa_objects::Result;
use stoa_objects::s3::{S3Bucket, Upload, Version};

/// Which objects are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// The one with this key.
    Key(String),
    /// All whose keys begin with this.
    Below(String),
}

impl What {
    /// All versions of them, in the order of keys, and of one key the newest first.
    pub fn versions(&self, s3: &S3Bucket) -> impl Stream<Item = Result<Version>> + use<> {
        let (s3, prefix) = (s3.clone(), self.prefix().to_owned());
        let pages = pages(move |after| {
            let (s3, prefix) = (s3.clone(), prefix.clone());
            async move { s3.list_versions(&prefix, None, after.as_ref(), None).await.map(|page| (page.versions, page.next)) }
        });
        meant(self.only(), pages, |version| &version.key)
    }

    /// All uploads in parts to them that were begun and neither completed nor given up, in the order of keys.
    pub fn uploads(&self, s3: &S3Bucket) -> impl Stream<Item = Result<Upload>> + use<> {
        let (s3, prefix) = (s3.clone(), self.prefix().to_owned());
        let pages = pages(move |after| {
            let (s3, prefix) = (s3.clone(), prefix.clone());
            async move { s3.list_uploads(&prefix, after.as_ref()).await.map(|page| (page.uploads, page.next)) }
        });
        meant(self.only(), pages, |upload| &upload.key)
    }

    fn prefix(&self) -> &str {
        let (Self::Key(prefix) | Self::Below(prefix)) = self;
        prefix
    }

    /// The only key that is meant, if there is one.
    fn only(&self) -> Option<String> {
        match self {
            Self::Key(key) => Some(key.clone()),
            Self::Below(_) => None,
        }
    }
}

/// Of what is listed, what has the key `only`, if there is one: it comes before what has longer keys.
fn meant<T>(
    only: Option<String>,
    listed: impl Stream<Item = Result<T>>,
    key: impl Fn(&T) -> &String,
) -> impl Stream<Item = Result<T>> {
    listed.try_take_while(move |item| future::ready(Ok(only.as_ref().is_none_or(|only| key(item) == only))))
}

/// What is on the pages that `ask` gives, the first of which is the one after nothing.
fn pages<T, M, F: Future<Output = Result<(Vec<T>, Option<M>)>>>(
    ask: impl Fn(Option<M>) -> F,
) -> impl Stream<Item = Result<T>> {
    let pages = stream::try_unfold(Some(None), move |state: Option<Option<M>>| {
        let asked = state.map(&ask);
        async move {
            let Some(asked) = asked else { return Ok(None) };
            let (items, next) = asked.await?;
            Ok(Some((stream::iter(items.into_iter().map(Ok)), next.map(Some))))
        }
    });
    pages.try_flatten()
}
