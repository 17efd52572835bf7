//! A bucket on a server, its files, and steps that tests take.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use stoa_bucket::{Bucket, Options};
use stoa_objects::s3::{Condition, Headers, S3Bucket};
use stoa_objects::testing::S3Server;
use stoa_objects::{ConnectOptions, RetryPolicy, Verb};
use stoa_vfs::{
    Attr, Caller, Cookie, DirEntry, Handle, Ino, Kind, Make, Name, Node, OpenFlags, Result, Vfs, WriteFlags,
};

pub(crate) struct World {
    pub(crate) server: S3Server,
    /// Another client, whose requests are not counted with those of the files.
    pub(crate) other: S3Bucket,
    pub(crate) files: Arc<Bucket>,
}

/// Requests by kind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) lists: u64,
    pub(crate) heads: u64,
    pub(crate) gets: u64,
}

pub(crate) const FREE: Cost = Cost { lists: 0, heads: 0, gets: 0 };

pub(crate) fn lists(lists: u64) -> Cost {
    Cost { lists, ..FREE }
}

pub(crate) fn name(name: impl AsRef<[u8]>) -> Name {
    Name::new(name.as_ref().to_vec()).unwrap()
}

/// Long enough that nothing is asked twice in a test.
pub(crate) fn patient() -> Options {
    Options { ttl: Duration::from_secs(3600), memory_bytes_max: 64 << 20, ..Options::default() }
}

/// Nothing is believed.
pub(crate) fn doubting() -> Options {
    Options { ttl: Duration::ZERO, ..patient() }
}

impl World {
    pub(crate) async fn new(options: &Options) -> Self {
        Self::below("", options).await
    }

    /// The keys that begin with `prefix`.
    pub(crate) async fn below(prefix: &str, options: &Options) -> Self {
        let server = S3Server::start("bucket").await.unwrap();
        let other = server.bucket("bucket", &ConnectOptions::default()).unwrap();
        let files = files(&server, prefix, options);
        Self { server, other, files }
    }

    /// The same keys, mounted once more.
    pub(crate) fn again(&self, options: &Options) -> Arc<Bucket> {
        files(&self.server, "", options)
    }

    pub(crate) async fn put(&self, key: &str, body: impl AsRef<[u8]>) {
        self.put_with(key, body, &[]).await;
    }

    pub(crate) async fn put_with(&self, key: &str, body: impl AsRef<[u8]>, metadata: &[(&str, &str)]) {
        let metadata = metadata.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let headers = Headers { metadata, ..Headers::default() };
        self.other.put(key, body.as_ref().to_vec().into(), &headers, &Condition::None).await.unwrap();
    }

    pub(crate) async fn put_all(&self, keys: &[impl AsRef<str>]) {
        for key in keys {
            self.put(key.as_ref(), key.as_ref()).await;
        }
    }

    /// What another client sees of an object.
    pub(crate) async fn object(&self, key: &str) -> Option<Vec<u8>> {
        let got = self.other.get(key, &stoa_objects::s3::Read::default()).await.ok()?;
        let bytes: Vec<bytes::Bytes> = futures::TryStreamExt::try_collect(got.body).await.unwrap();
        Some(bytes.concat())
    }

    /// Every key, for another client.
    pub(crate) async fn keys(&self) -> Vec<String> {
        let page = self.other.list(&stoa_objects::s3::List::default()).await.unwrap();
        page.objects.into_iter().map(|object| object.key).collect()
    }

    /// The inode of the directory that a path lies in, and its last name.
    pub(crate) async fn place(&self, path: &str) -> (Ino, Name) {
        let (dir, last) = path.rsplit_once('/').unwrap_or(("", path));
        (self.ino(dir).await, name(last))
    }

    /// Makes a file or directory.
    pub(crate) async fn make(&self, path: &str, node: Node) -> Result<Ino> {
        let (dir, name) = self.place(path).await;
        let make = Make { node, mode: 0o644, umask: 0 };
        Ok(self.files.make(Caller::ROOT, dir, &name, &make).await?.attr.ino)
    }

    /// Makes a file and opens it to write.
    pub(crate) async fn create(&self, path: &str) -> Writer {
        let ino = self.make(path, Node::Regular).await.unwrap();
        self.writer(ino, false).await.unwrap()
    }

    /// Opens a file to write.
    pub(crate) async fn writer(&self, ino: Ino, truncate: bool) -> Result<Writer> {
        self.open(ino, OpenFlags { write: true, truncate, ..OpenFlags::default() }).await
    }

    /// Opens a file to read and write.
    pub(crate) async fn editor(&self, ino: Ino) -> Result<Writer> {
        self.open(ino, OpenFlags { read: true, write: true, ..OpenFlags::default() }).await
    }

    async fn open(&self, ino: Ino, flags: OpenFlags) -> Result<Writer> {
        let handle = self.files.open(ino, flags).await?;
        Ok(Writer { files: Arc::clone(&self.files), ino, handle })
    }

    /// What `work` costs.
    pub(crate) async fn cost<T>(&self, work: impl Future<Output = T>) -> (T, Cost) {
        let before = self.files.s3().meter().counts();
        let done = work.await;
        let spent = self.files.s3().meter().counts().since(&before);
        (done, Cost { lists: spent.of(Verb::List), heads: spent.of(Verb::Head), gets: spent.of(Verb::Get) })
    }

    /// The attributes of a path.
    pub(crate) async fn stat(&self, path: &str) -> Result<Attr> {
        stat(self.files.as_ref(), path).await
    }

    pub(crate) async fn ino(&self, path: &str) -> Ino {
        self.stat(path).await.unwrap().ino
    }

    /// The names in a directory, sorted.
    pub(crate) async fn ls(&self, path: &str) -> Vec<String> {
        let dir = self.ino(path).await;
        let mut names: Vec<_> = scan(self.files.as_ref(), dir, 100, false).await.iter().map(text).collect();
        names.sort();
        names
    }

    pub(crate) async fn cat(&self, path: &str) -> Result<Vec<u8>> {
        read(self.files.as_ref(), self.stat(path).await?).await
    }
}

/// A file that is open to write.
pub(crate) struct Writer {
    files: Arc<Bucket>,
    pub(crate) ino: Ino,
    pub(crate) handle: Handle,
}

impl Writer {
    pub(crate) async fn write(&self, offset: u64, data: &[u8]) -> Result<()> {
        let data = bytes::Bytes::copy_from_slice(data);
        self.files.write(self.ino, self.handle, offset, data, WriteFlags::default()).await
    }

    pub(crate) async fn read(&self, offset: u64, size: usize) -> Result<Vec<u8>> {
        Ok(self.files.read(self.ino, self.handle, offset, size).await?.concat())
    }

    /// As close(2): its answer, and the handle is gone.
    pub(crate) async fn close(self) -> Result<()> {
        let flushed = self.flush().await;
        self.files.release(self.ino, self.handle).await;
        flushed
    }

    pub(crate) async fn flush(&self) -> Result<()> {
        self.files.flush(self.ino, self.handle).await
    }
}

fn files(server: &S3Server, prefix: &str, options: &Options) -> Arc<Bucket> {
    let retry = RetryPolicy { delay_min: Duration::from_millis(1), ..RetryPolicy::bounded(Duration::from_secs(2)) };
    let connect = ConnectOptions { retry, ..ConnectOptions::default() };
    Bucket::open(server.bucket("bucket", &connect).unwrap(), prefix, options).unwrap()
}

pub(crate) fn text(entry: &DirEntry) -> String {
    String::from_utf8(entry.name.as_bytes().to_vec()).unwrap()
}

/// References are not given back: a test is short.
pub(crate) async fn stat(files: &dyn Vfs, path: &str) -> Result<Attr> {
    let mut attr = files.getattr(Ino::ROOT).await?;
    for part in path.split('/').filter(|part| !part.is_empty()) {
        attr = files.lookup(attr.ino, &name(part)).await?.attr;
    }
    Ok(attr)
}

pub(crate) async fn read(files: &dyn Vfs, attr: Attr) -> Result<Vec<u8>> {
    let handle = files.open(attr.ino, OpenFlags::default()).await?;
    let read = files.read(attr.ino, handle, 0, usize::try_from(attr.size).unwrap() + 1).await;
    files.release(attr.ino, handle).await;
    Ok(read?.concat())
}

/// Every entry, `count` at a time.
pub(crate) async fn scan(files: &dyn Vfs, dir: Ino, count: usize, attributes: bool) -> Vec<DirEntry> {
    let mut entries: Vec<DirEntry> = Vec::new();
    let mut after = Cookie::START;
    loop {
        let page = files.readdir(dir, after, count, attributes).await.unwrap();
        assert!(page.entries.len() <= count && (page.end || !page.entries.is_empty()));
        entries.extend(page.entries);
        if page.end {
            return entries;
        }
        after = entries.last().unwrap().cookie;
    }
}

/// Every object below a directory, by its content, with the path it has; and that each name is found as it was listed.
pub(crate) async fn walk(files: &dyn Vfs, count: usize) -> BTreeMap<Vec<u8>, String> {
    let mut found = BTreeMap::new();
    let mut ahead = vec![(Ino::ROOT, String::new())];
    while let Some((dir, path)) = ahead.pop() {
        let mut names = std::collections::BTreeSet::new();
        for entry in scan(files, dir, count, true).await {
            let attr = entry.entry.as_ref().unwrap().attr.clone();
            let path = format!("{path}/{}", text(&entry));
            assert!(names.insert(entry.name.clone()), "{path} is listed twice");
            assert_eq!((attr.ino, attr.kind), (entry.ino, entry.kind), "{path}");
            let asked = files.lookup(dir, &entry.name).await.unwrap_or_else(|error| panic!("{path:?}: {error}"));
            assert_eq!(asked.attr, attr, "{path}");
            match entry.kind {
                Kind::Directory => {
                    assert_eq!(files.parent(attr.ino).await.unwrap(), dir, "{path}");
                    ahead.push((attr.ino, path));
                }
                _ => {
                    let content = read(files, attr).await.unwrap();
                    let before = found.insert(content, path.clone());
                    assert_eq!(before, None, "{path:?}");
                }
            }
        }
    }
    found
}
