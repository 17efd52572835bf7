//! Names that come and go.

use crate::bucket::Bucket;
use crate::directory::Directory;
use crate::draft::Draft;
use crate::error::told;
use crate::escape::{self, Role};
use crate::found::{Found, Target, Version};
use crate::inodes::Node;
use crate::listing::{Page, first_below};
use crate::metadata;
use crate::rename::is_journal;
use crate::tree::MARKER_TYPE;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stoa_objects::Error as ObjectsError;
use stoa_objects::s3::{Condition, Headers, List, Listed};
use stoa_vfs::{Caller, Entry, Error, Make, Name, Node as Kind, Result, SetAttr};
use tokio::time::Instant;

impl Bucket {
    /// Makes a file, which is in the store when it was written and closed; or a directory, which is there at once.
    pub(crate) async fn make_in(
        &self,
        caller: Caller,
        node: &Node,
        directory: &Directory,
        name: &Name,
        make: &Make,
    ) -> Result<Entry> {
        let component = component(directory, name)?;
        if node.is_stale() {
            return Err(Error::NotFound);
        }
        match self.find(node, directory, name).await {
            Ok(_) => return Err(Error::Exists),
            Err(Error::NotFound) => {}
            Err(error) => return Err(error),
        }
        let set = self.first_attributes(caller, node, make);
        match &make.node {
            Kind::Regular => {
                let key = directory.key(&component);
                let headers = self.headers_of_file(&key);
                self.check_rights(&key, &headers).await?;
                self.make_file(key, headers, &set)
            }
            Kind::Directory => {
                let entry = self.make_directory(directory.below(&component), &set).await?;
                let made = self.inodes.get(entry.attr.ino)?;
                self.recent.keep(directory, name, Some(&made.found()), Instant::now());
                made.listing.is_new(&self.pages);
                Ok(entry)
            }
            Kind::Symlink(target) => self.make_link(&directory.key(&component), target, set).await,
            Kind::Special { .. } => Err(Error::Unsupported("devices, FIFOs and sockets as objects")),
        }
    }

    fn make_file(&self, key: String, headers: Headers, set: &SetAttr) -> Result<Entry> {
        let made = self.finder.made(key.clone(), self.made.fetch_add(1, Ordering::Relaxed), set);
        let key: Arc<str> = key.into();
        // Of several who make it at once, one does.
        let mut drafts = self.drafts.lock();
        if drafts.get(&key).is_some_and(|other| !other.is_stale()) {
            return Err(Error::Exists);
        }
        let mut draft = Draft::new(Arc::clone(&key), headers);
        draft.carry(set)?;
        let entry = self.inodes.hand_out(&made);
        let node = self.inodes.get(entry.attr.ino)?;
        // It was made just now: nobody else has it.
        if let Ok(mut empty) = node.draft.try_lock() {
            *empty = Some(draft);
        }
        // A reference of our own: the kernel may forget what nobody opened (mknod(2)), and it still has to get into the store.
        self.inodes.again(entry.attr.ino)?;
        if let Some(stale) = drafts.insert(key, node) {
            self.inodes.forget(stale.ino, 1);
        }
        Ok(entry)
    }

    async fn make_directory(&self, below: Directory, set: &SetAttr) -> Result<Entry> {
        match self.mark(&below, set).await {
            Err(ObjectsError::Conflict { .. }) => return Err(Error::Exists),
            marked => drop(marked.map_err(told)?),
        }
        self.rights.granted(&below.key(""));
        self.changed(below.prefix());
        self.inodes.is_there(&Target::Directory(below.clone()));
        let entry = self.inodes.hand_out(&self.finder.directory(below, None));
        let node = self.inodes.get(entry.attr.ino)?;
        node.changed(set);
        Ok(Entry { attr: node.attr() })
    }

    /// A file of this name that was made here and is not in the store yet.
    pub(crate) fn find_draft(&self, directory: &Directory, name: &Name) -> Option<Found> {
        let component = component(directory, name).ok()?;
        let node = self.drafts.lock().get(directory.key(&component).as_str()).cloned()?;
        (!node.is_stale()).then(|| node.found())
    }

    /// The files of a directory that were made here and are not in the store yet.
    pub(crate) fn drafts_in(&self, directory: &Directory) -> Page {
        let drafts = self.drafts.lock();
        let named = drafts.iter().filter_map(|(key, node)| {
            let component = key.strip_prefix(directory.prefix()).filter(|rest| !rest.contains('/'))?;
            let component = format!("{}{component}", directory.begun());
            let part = directory.part(&component, false).filter(|part| part.role == Role::Plain)?;
            Some((part.name, node)).filter(|(_, node)| !node.is_stale())
        });
        Page::new(named.map(|(name, node)| (name, node.found())).collect::<Vec<_>>(), true)
    }

    /// Writes the marker of a directory, if there is none.
    pub(crate) async fn mark(&self, directory: &Directory, set: &SetAttr) -> stoa_objects::Result<()> {
        let mut headers = self.headers_of_marker();
        metadata::write_of(stoa_vfs::Kind::Directory, set, &mut headers.metadata);
        let none = bytes::Bytes::new();
        self.s3.put(directory.prefix(), none.into(), &headers, &Condition::IfAbsent).await.map(drop)
    }

    /// What the marker of a new directory carries.
    pub(crate) fn headers_of_marker(&self) -> Headers {
        self.headers(Some(MARKER_TYPE.to_owned()))
    }

    /// Removes an object, if it is still the one that was last seen.
    pub(crate) async fn unlink_in(&self, node: &Node, directory: &Directory, name: &Name) -> Result<()> {
        let key = loop {
            let found = self.find(node, directory, name).await?;
            let Target::Object(version) = &found.target else { return Err(Error::IsDirectory) };
            match self.inodes.find(&found.target) {
                Some(file) => self.unlink_referred(&file).await?,
                None if version.draft == 0 => self.delete(version).await?,
                // It was stored just now: it is to be found as that.
                None => continue,
            }
            break Arc::clone(&version.key);
        };
        self.changed(&key);
        self.recent.keep(directory, name, None, Instant::now());
        self.keep(node, directory).await
    }

    /// Removes the object of a file that the kernel refers to, and discards what is being written to it.
    async fn unlink_referred(&self, file: &Node) -> Result<()> {
        // Nobody stores it from here on; and if it was stored meanwhile, it is that which goes.
        let mut draft = file.draft.lock().await;
        let version = file.version()?;
        if version.draft == 0 {
            self.delete(&version).await?;
        }
        self.has_no_name(file, &version.key, draft.as_mut()).await;
        Ok(())
    }

    /// A file has lost its name: what is written to it goes nowhere.
    pub(crate) async fn has_no_name(&self, file: &Node, key: &str, draft: Option<&mut Draft>) {
        file.went_stale();
        self.is_no_draft(file, key);
        if let Some(draft) = draft {
            draft.discard().await;
            // What comes to have the same content is another file, that can be written.
            self.disown(file);
        }
    }

    async fn delete(&self, version: &Version) -> Result<()> {
        self.s3.delete(&version.key, version.etag.as_deref(), None).await.map_err(told)
    }

    /// Removes a directory that has nothing but its marker.
    pub(crate) async fn rmdir_in(&self, node: &Node, directory: &Directory, name: &Name) -> Result<()> {
        let found = self.find(node, directory, name).await?;
        let Target::Directory(gone) = &found.target else { return Err(Error::NotDirectory) };
        if gone.is_continued() {
            return Err(Error::NotEmpty);
        }
        if let Some(marker) = self.marker_alone(gone).await? {
            self.s3.delete(&marker.key, marker.etag.as_deref(), None).await.map_err(told)?;
        }
        if let Some(node) = self.inodes.find(&found.target) {
            node.went_stale();
        }
        self.changed(gone.prefix());
        self.recent.keep(directory, name, None, Instant::now());
        self.keep(node, directory).await
    }

    /// The marker of a directory that has nothing else in it; `None` if it has not even that, or if there is none.
    ///
    /// # Errors
    /// [`Error::NotEmpty`]; those of listing.
    pub(crate) async fn marker_alone(&self, directory: &Directory) -> Result<Option<Listed>> {
        if self.drafts.lock().keys().any(|key| key.starts_with(directory.prefix())) {
            return Err(Error::NotEmpty);
        }
        let list = List { prefix: directory.prefix().to_owned(), keys_max: Some(2), ..List::default() };
        let page = self.s3.list(&list).await.map_err(told)?;
        let is_marker = |object: &Listed| object.key == directory.prefix() && object.size == 0;
        match page.next.is_none() && page.objects.iter().all(is_marker) {
            true => Ok(page.objects.into_iter().next()),
            false => Err(Error::NotEmpty),
        }
    }

    /// Sees to it that a directory does not go with the last name in it: rmdir alone removes one.
    pub(crate) async fn keep(&self, node: &Node, directory: &Directory) -> Result<()> {
        if directory == self.root() || directory.is_continued() {
            return Ok(());
        }
        if node.listing.is_marked(&self.pages, self.ttl) || node.listing.has_others(&self.pages, self.ttl) {
            return Ok(());
        }
        match first_below(&self.s3, directory.prefix()).await {
            Ok(None) => match self.mark(directory, &SetAttr::default()).await {
                // Somebody else has made it.
                Err(ObjectsError::Conflict { .. }) => Ok(()),
                marked => marked.map_err(told),
            },
            Ok(Some(_)) => Ok(()),
            // It can't be known without the right to list; the name is gone, which is what was asked for.
            Err(error) => {
                tracing::warn!(%error, directory = directory.prefix(), "whether a directory has become empty is not known");
                Ok(())
            }
        }
    }
}

/// The component that a new name stands for.
pub(crate) fn component(directory: &Directory, name: &Name) -> Result<String> {
    let spelled = escape::decode(name).filter(|(_, role)| *role == Role::Plain);
    let component = spelled.map(|(text, _)| format!("{}{text}", directory.begun()));
    let named = |component: &String| directory.part(component, false).is_some_and(|part| part.name == *name);
    let component = component.filter(named);
    let component = component.ok_or(Error::Invalid("a name that no key has: not UTF-8, or with a wrong escape"))?;
    match is_journal(&component) {
        true => Err(Error::Invalid("a name that is kept for the journals of renames")),
        false => Ok(component),
    }
}
