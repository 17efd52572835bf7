//! Puts, and what became of those whose answer was lost.

use super::Core;
use super::tries::Tries;
use crate::classify::{Class, classify, shown};
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, Error, GetOptions, ObjectMeta, PutMode, PutOptions, PutPayload, PutResult, Result,
};
use std::borrow::Cow;
use std::sync::Arc;

/// The metadata that tells one conditional put from every other. Letters only: some stores allow nothing else.
pub(crate) const TAG: &str = "stoaputid";

/// How often an update met by "conflict" (a concurrent write under way) is repeated before it counts as lost.
pub(crate) const CONFLICTS_MAX: u32 = 10;

/// A tag that no other put has.
pub(crate) fn new_tag() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

/// `attributes` with the tag, when there is one.
pub(super) fn tagged(attributes: &Attributes, tag: Option<&str>) -> Attributes {
    let mut attributes = attributes.clone();
    if let Some(tag) = tag {
        attributes.insert(Attribute::Metadata(Cow::Borrowed(TAG)), tag.to_owned().into());
    }
    attributes
}

pub(super) async fn put(core: &Arc<Core>, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
    let conditional = opts.mode != PutMode::Overwrite;
    let updates = matches!(opts.mode, PutMode::Update(_));
    let mut tag = (conditional && core.keeps_tags()).then(new_tag);
    let mut refused_with_tag = false;
    let mut conflicts = 0;
    let mut tries = Tries::new(core, "put", Some(location));
    loop {
        let attributes = tagged(&opts.attributes, tag.as_deref());
        let attempt = PutOptions { attributes, ..opts.clone() };
        let request = core.inner.put_opts(location, payload.clone(), attempt);
        let error = match core.attempt(payload.content_length() as u64, request).await {
            Ok(result) => {
                core.learn_tags(refused_with_tag);
                return Ok(tries.done(result));
            }
            Err(error) => error,
        };
        match classify(&error) {
            // It may be the metadata that is not supported, or the condition: the next attempt tells.
            Class::Unsupported if tag.is_some() => {
                tag = None;
                refused_with_tag = true;
            }
            // S3 answers 409 to one of two concurrent updates, which says neither yes nor no.
            Class::Exists if updates => {
                conflicts += 1;
                if conflicts > CONFLICTS_MAX {
                    return Err(Error::Precondition { path: location.to_string(), source: Box::new(error) });
                }
                tries.again_as(error, Class::Transient).await.map_err(shown)?;
            }
            Class::Exists | Class::Precondition if conditional && tries.effect_unknown() => {
                let Some(meta) = our_own(core, location, &payload, tag.as_deref()).await? else {
                    return Err(error);
                };
                core.learn_tags(refused_with_tag);
                tracing::debug!(%location, "a put whose answer was lost had taken effect");
                let result = PutResult { e_tag: meta.e_tag, version: meta.version, extensions: Default::default() };
                return Ok(tries.done(result));
            }
            class => tries.again_as(error, class).await.map_err(shown)?,
        }
    }
}

/// The object at `location`, if it is the one that this very put wrote.
async fn our_own(
    core: &Arc<Core>,
    location: &Path,
    payload: &PutPayload,
    tag: Option<&str>,
) -> Result<Option<ObjectMeta>> {
    if let Some(tag) = tag {
        match tag_at(core, location).await? {
            Some((found, meta)) if found == tag => return Ok(Some(meta)),
            Some(_) => return Ok(None),
            None => {}
        }
    }
    // Two writers may well create the same empty object, and only one of them may be told that it did.
    if payload.content_length() == 0 {
        return Ok(None);
    }
    let result = match super::get::get(core, location, GetOptions::default()).await {
        Ok(result) => result,
        Err(Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let meta = result.meta.clone();
    if meta.size != payload.content_length() as u64 {
        return Ok(None);
    }
    let found = result.bytes().await?;
    let mut rest = found.as_ref();
    for part in payload.iter() {
        match rest.split_at_checked(part.len()) {
            Some((head, tail)) if head == part.as_ref() => rest = tail,
            _ => return Ok(None),
        }
    }
    Ok(Some(meta))
}

/// The tag of the object at `location`, if there is one and it has one.
pub(super) async fn tag_at(core: &Arc<Core>, location: &Path) -> Result<Option<(String, ObjectMeta)>> {
    let head = GetOptions { head: true, ..GetOptions::default() };
    match super::get::get(core, location, head).await {
        Ok(result) => {
            let tag = result.attributes.get(&Attribute::Metadata(Cow::Borrowed(TAG)));
            Ok(tag.map(|tag| (tag.to_string(), result.meta.clone())))
        }
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
