//! From a bucket to a directory.

mod content;
mod object;
mod order;
mod record;

pub(crate) use record::{Record, There};

use crate::attributes::Carried;
use crate::jobs::Jobs;
use crate::tally::add;
use crate::tree::{self, Tree};
use crate::{Error, Options, Result, Tally, blocking};
use order::{Order, Step};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use stoa_bucket::tree as names;
use stoa_objects::s3::{List, Listed, Page, S3Bucket};
use stoa_vfs::Name;
use tokio::sync::Semaphore;

/// So many files are made durable at once, some time after they were written: by then most of them are.
const SYNC_FILES: usize = 1024;

/// What is copied, and how.
#[derive(Debug)]
pub struct Import {
    s3: S3Bucket,
    prefix: String,
    tree: Tree,
    options: Options,
    tally: Arc<Tally>,
    /// Places for requests of content.
    places: Semaphore,
    /// Files that were written and not made durable yet: by their paths, as there may be more directories than may be open.
    written: Mutex<Vec<Vec<Name>>>,
}

impl Import {
    /// The objects of `s3` whose keys begin with `prefix`, which is empty or ends with a slash, into `dir`, which must be there.
    ///
    /// # Errors
    /// When `dir` can't be opened.
    pub fn new(
        s3: S3Bucket,
        prefix: &str,
        dir: &Path,
        options: Options,
        tally: Arc<Tally>,
    ) -> std::io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            s3,
            prefix: prefix.to_owned(),
            tree: Tree::open(dir)?,
            options,
            tally,
            places: Semaphore::new(options.parallel.max(1)),
            written: Mutex::default(),
        }))
    }

    /// Copies. What could not be copied is in the tally. All else is durable when this returns.
    ///
    /// # Errors
    /// When the bucket can't be listed to its end: no more was copied then.
    pub async fn run(self: &Arc<Self>) -> stoa_objects::Result<()> {
        let mut jobs = Jobs::new(self.options.parallel);
        let listed = self.list(&mut jobs).await;
        while jobs.one().await {
            self.close(&mut jobs).await;
        }
        self.close(&mut jobs).await;
        while jobs.one().await {}
        if jobs.lost > 0 {
            self.tally.problem("", &Error::Refused(format!("{} jobs ended early", jobs.lost)));
        }
        if !self.options.dry_run {
            self.sync(0).await;
            let root = self.tree.root();
            if let Err(error) = blocking(move || tree::sync_all(&root)).await {
                self.tally.problem("syncfs", &error);
            }
        }
        listed
    }

    async fn list(self: &Arc<Self>, jobs: &mut Jobs<String>) -> stoa_objects::Result<()> {
        let mut list = List { prefix: self.prefix.clone(), ..List::default() };
        let mut order = Order::default();
        let mut next = Some(self.ask(&list));
        while let Some(page) = next.take() {
            let page = page.await.unwrap_or_else(|error| {
                Err(stoa_objects::Error::Unavailable { op: "list".to_owned(), detail: error.to_string() })
            })?;
            list.continuation = page.next;
            // While what is on this page is copied, the next one comes.
            next = list.continuation.is_some().then(|| self.ask(&list));
            for object in page.objects {
                if self.tally.is_stopped() {
                    return Ok(());
                }
                self.take(order.next(self.relative(object)?)?, jobs).await;
            }
        }
        self.take(order.end(), jobs).await;
        Ok(())
    }

    fn ask(&self, list: &List) -> tokio::task::JoinHandle<stoa_objects::Result<Page>> {
        let (s3, list) = (self.s3.clone(), list.clone());
        tokio::spawn(async move { s3.list(&list).await })
    }

    /// The object with its key below the prefix.
    fn relative(&self, object: Listed) -> stoa_objects::Result<Listed> {
        match object.key.strip_prefix(&self.prefix) {
            Some(key) => Ok(Listed { key: key.to_owned(), ..object }),
            None => {
                let detail = format!("the key {:?} does not begin with {:?}", object.key, self.prefix);
                Err(stoa_objects::Error::Corrupt { op: "list".to_owned(), detail })
            }
        }
    }

    async fn take(self: &Arc<Self>, steps: Vec<Step>, jobs: &mut Jobs<String>) {
        for step in steps {
            let import = Arc::clone(self);
            match step {
                Step::Object { listed, beside } => {
                    jobs.start(async move { import.object(listed, beside).await }).await;
                }
                Step::Directory(key) => {
                    jobs.start(async move {
                        let made = import.directory(&key).await;
                        import.note(&key, made);
                    })
                    .await;
                }
                Step::Left(key) => jobs.later(key),
            }
            self.close(jobs).await;
        }
        if self.written.lock().len() >= 2 * SYNC_FILES {
            self.sync(SYNC_FILES).await;
        }
    }

    /// Gives directories their attributes in which all is done.
    async fn close(self: &Arc<Self>, jobs: &mut Jobs<String>) {
        while let Some(key) = jobs.due() {
            let import = Arc::clone(self);
            jobs.start(async move {
                let dressed = import.dress(&key).await;
                import.note(&key, dressed);
            })
            .await;
        }
    }

    async fn directory(self: &Arc<Self>, key: &str) -> Result<()> {
        let path = directory(key)?;
        add(&self.tally.directories, 1);
        if self.options.dry_run {
            return Ok(());
        }
        let import = Arc::clone(self);
        blocking(move || import.tree.make(&path).map(drop)).await
    }

    async fn dress(self: &Arc<Self>, key: &str) -> Result<()> {
        if self.options.dry_run {
            return Ok(());
        }
        let info = self.s3.head(&format!("{}{key}", self.prefix), None).await?;
        let (path, import) = (directory(key)?, Arc::clone(self));
        blocking(move || {
            let dir = import.tree.make(&path)?;
            let left_out = Carried::by_object(&info.headers, info.modified).give(&dir)?;
            add(&import.tally.attributes_left_out, left_out);
            Ok(())
        })
        .await
    }

    /// Makes files durable until no more than `left` are to be.
    async fn sync(self: &Arc<Self>, left: usize) {
        let mut jobs = Jobs::<()>::new(self.options.parallel);
        let due: Vec<_> = {
            let mut written = self.written.lock();
            let count = written.len().saturating_sub(left);
            written.drain(..count).collect()
        };
        for some in due.chunks(16) {
            let (import, some) = (Arc::clone(self), some.to_vec());
            jobs.start(async move {
                let (tally, tree) = (Arc::clone(&import.tally), import);
                if let Err(error) = blocking(move || tree::sync(&tree.tree, &some)).await {
                    tally.problem("fsync", &error);
                }
            })
            .await;
        }
        while jobs.one().await {}
    }

    fn note(&self, key: &str, done: Result<()>) {
        if let Err(error) = done {
            self.tally.problem(&format!("{}{key}", self.prefix), &error);
        }
    }
}

fn directory(key: &str) -> Result<Vec<Name>> {
    names::path_of_directory(key.strip_suffix('/').unwrap_or(key))
        .ok_or_else(|| Error::Refused("it has no path".to_owned()))
}
