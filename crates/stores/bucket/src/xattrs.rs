//! Extended attributes: `user.NAME` is user metadata, and `user.s3.` is what the store says of an object.

mod encoding;

use crate::bucket::Bucket;
use crate::draft::Draft;
use crate::error::told;
use crate::found::{Target, Version};
use crate::inodes::Node;
use crate::metadata::{self, write_of};
use bytes::Bytes;
use encoding::{decode_name, decode_value, encode_name, encode_value};
use std::collections::BTreeMap;
use stoa_objects::Error as ObjectsError;
use stoa_objects::s3::{Headers, ObjectInfo};
use stoa_vfs::{Error, Kind, Result, SetAttr, SetTime, XattrMode};

/// The namespace of user metadata.
const USER: &str = "user.";

/// In it, what the store says.
const STORE: &str = "s3.";

/// In that, tags.
const TAG: &str = "s3.tag.";

/// User metadata that are shown in other ways.
const ATTRIBUTES: [&str; 4] = ["mode", "uid", "gid", "mtime"];

/// The part of an attribute's name after `user.`. Others there can't be: told so once, `ls -l` asks for no label and no ACL of the next file.
fn user(name: &[u8]) -> Result<&str> {
    let name = std::str::from_utf8(name).ok().and_then(|name| name.strip_prefix(USER));
    name.filter(|name| !name.is_empty()).ok_or(Error::Unsupported("extended attributes of objects other than user."))
}

impl Bucket {
    /// The value of an extended attribute. Names other than `user.` cost nothing.
    pub(crate) async fn attribute(&self, node: &Node, name: &[u8]) -> Result<Bytes> {
        let name = user(name)?;
        if let Some(tag) = name.strip_prefix(TAG) {
            let value = self.tags_of(node).await?.remove(tag);
            return value.map(Into::into).ok_or(Error::NoAttribute);
        }
        let info = self.info(node).await?.ok_or(Error::NoAttribute)?;
        said_by_store(&info)
            .into_iter()
            .find_map(|(said, value)| (said == name).then_some(value.into()))
            .or_else(|| metadata(&info.headers).remove(name).map(Into::into))
            .ok_or(Error::NoAttribute)
    }

    /// The names of all.
    pub(crate) async fn attributes(&self, node: &Node) -> Result<Vec<Bytes>> {
        let Some(info) = self.info(node).await? else { return Ok(Vec::new()) };
        let said = said_by_store(&info).into_iter().map(|(name, _)| name.to_owned());
        let tags = self.tags_of(node).await?.into_keys().map(|tag| format!("{TAG}{tag}"));
        let all = said.chain(tags).chain(metadata(&info.headers).into_keys());
        Ok(all.map(|name| format!("{USER}{name}").into()).collect())
    }

    /// Sets an attribute, or removes it if there is no value: the object is copied onto itself, or what is being written carries it. A
    /// directory that has no marker gets one.
    pub(crate) async fn set_attribute(
        &self,
        node: &Node,
        name: &[u8],
        value: Option<&[u8]>,
        mode: XattrMode,
    ) -> Result<()> {
        let name = user(name)?;
        let key = encode_name(name);
        if name.starts_with(STORE) || ATTRIBUTES.contains(&key.as_str()) || key == metadata::TAG {
            return Err(Error::NotPermitted);
        }
        if let Target::Directory(directory) = node.target() {
            // What says no time is shown with that of writing, where objects are asked.
            let mtime = SetAttr { mtime: Some(SetTime::At(node.attr().mtime)), ..SetAttr::default() };
            let asks = self.finder.asks_objects();
            let change = |headers: &mut Headers| {
                put(headers, name, value, mode)?;
                if asks && !headers.metadata.contains_key("mtime") {
                    write_of(Kind::Directory, &mtime, &mut headers.metadata);
                }
                Ok(())
            };
            return self.change_marker(node, &directory, change).await;
        }
        let mut draft = node.draft.lock().await;
        // It may have been stored until now.
        let version = node.version()?;
        draft.as_ref().map_or(Ok(()), Draft::check)?;
        if let Some(writing) = draft.as_mut().filter(|draft| draft.is_dirty()) {
            return put(writing.headers_mut(), name, value, mode);
        }
        self.set_stored(node, draft.as_mut(), &version, |headers| put(headers, name, value, mode)).await
    }

    /// What the store says of the object of a file, or of the marker of a directory; `None` if there is none.
    pub(crate) async fn info(&self, node: &Node) -> Result<Option<ObjectInfo>> {
        let key = match node.target() {
            Target::Object(version) => {
                let draft = node.draft.lock().await;
                if let Some(writing) = draft.as_ref().filter(|draft| draft.is_dirty()) {
                    return Ok(Some(unstored(&version, writing)));
                }
                version.key
            }
            Target::Directory(directory) if directory.prefix().is_empty() || directory.is_continued() => {
                return Ok(None);
            }
            Target::Directory(directory) => directory.prefix().into(),
        };
        match self.s3.head(&key, None).await {
            Ok(info) => Ok(Some(info)),
            Err(ObjectsError::NotFound { .. }) => Ok(None),
            Err(error) => Err(told(error)),
        }
    }

    /// The tags of a file; none where they can't be read.
    async fn tags_of(&self, node: &Node) -> Result<BTreeMap<String, String>> {
        let Target::Object(Version { key, draft: 0, .. }) = node.target() else { return Ok(BTreeMap::new()) };
        match self.s3.get_tags(&key).await {
            Err(ObjectsError::NotFound { .. } | ObjectsError::Denied { .. } | ObjectsError::Unsupported { .. }) => {
                Ok(BTreeMap::new())
            }
            tags => tags.map_err(told),
        }
    }
}

/// What is known of a file that is not in the store as it is.
fn unstored(version: &Version, draft: &Draft) -> ObjectInfo {
    ObjectInfo { size: version.size, etag: None, modified: None, version: None, headers: draft.headers().clone() }
}

/// What the store says of an object, by names.
fn said_by_store(info: &ObjectInfo) -> Vec<(&'static str, String)> {
    let class = info.headers.storage.class.clone();
    let said = [
        ("s3.etag", info.etag.clone()),
        ("s3.content-type", info.headers.content_type.clone()),
        ("s3.storage-class", class),
        ("s3.version-id", info.version.clone()),
    ];
    said.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The user metadata that are attributes, by names.
fn metadata(headers: &Headers) -> BTreeMap<String, Vec<u8>> {
    let shown = headers.metadata.iter().filter(|(name, _)| !ATTRIBUTES.contains(&name.as_str()));
    shown.map(|(name, value)| (decode_name(name), decode_value(value))).collect()
}

fn put(headers: &mut Headers, name: &str, value: Option<&[u8]>, mode: XattrMode) -> Result<()> {
    let there = headers.metadata.keys().find(|key| decode_name(key) == name).cloned();
    match (mode, &there) {
        (XattrMode::Create, Some(_)) => return Err(Error::Exists),
        (XattrMode::Replace, None) => return Err(Error::NoAttribute),
        _ => {}
    }
    let key = there.unwrap_or_else(|| encode_name(name));
    let Some(value) = value else {
        headers.metadata.remove(&key);
        return Ok(());
    };
    let value = encode_value(value);
    if key.len() + value.len() > metadata::BYTES_MAX {
        return Err(Error::ValueTooLarge);
    }
    let others = headers.metadata.iter().filter(|(other, _)| **other != key);
    let bytes: usize = others.map(|(name, value)| name.len() + value.len()).sum();
    if bytes + key.len() + value.len() > metadata::BYTES_MAX {
        return Err(Error::NoSpace);
    }
    headers.metadata.insert(key, value);
    Ok(())
}
