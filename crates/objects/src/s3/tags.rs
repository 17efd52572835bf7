//! Tags of objects.

use super::S3Bucket;
use super::attempts::Answer;
use super::call::Call;
use super::xml;
use crate::{Result, Verb};
use hyper::Method;
use std::collections::BTreeMap;

impl S3Bucket {
    /// The tags of an object, by their names.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`].
    pub async fn get_tags(&self, key: &str) -> Result<BTreeMap<String, String>> {
        let call = Call::object(Verb::Head, "get tags of", Method::GET, key)?.query("tagging", "");
        let read = |answer: &Answer| {
            let root = answer.xml("Tagging")?;
            let mut tags = BTreeMap::new();
            for tag in root.child("TagSet").into_iter().flat_map(|set| set.all("Tag")) {
                tags.insert(tag.need("Key")?.to_owned(), tag.need("Value")?.to_owned());
            }
            Ok(tags)
        };
        self.inner.run(&call, read).await
    }

    /// Gives an object these tags in place of all that it has.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`]; [`crate::Error::Rejected`] for more than 10 tags, and such as S3 does not allow.
    pub async fn put_tags(&self, key: &str, tags: &BTreeMap<String, String>) -> Result<()> {
        let mut call = Call::object(Verb::Put, "put tags of", Method::PUT, key)?.query("tagging", "");
        let mut document = "<Tagging xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><TagSet>".to_owned();
        for (name, value) in tags {
            if !xml::can_carry(name) || !xml::can_carry(value) {
                return Err(call.refused("a tag has a control character"));
            }
            document.push_str("<Tag>");
            xml::write(&mut document, "Key", name);
            xml::write(&mut document, "Value", value);
            document.push_str("</Tag>");
        }
        document.push_str("</TagSet></Tagging>");
        call.xml(document).await?;
        self.inner.run(&call, |answer| answer.no_error()).await
    }
}
