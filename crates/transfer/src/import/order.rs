//! What is known of a key only when later ones were seen, in memory that a key's length bounds.
//!
//! Whether there is a directory `a` beside the object `a` is known when the keys have passed `a/`; in between there are others,
//! such as `a-b`. Each that waits is the beginning of the next, so no more wait than a key has characters.

use stoa_objects::s3::Listed;
use stoa_objects::{Error, Result};

/// What is to be done next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// An object is to be copied. `beside`: there is a directory of the same name.
    Object { listed: Listed, beside: bool },
    /// A directory has a marker of its own.
    Directory(String),
    /// All that is in such a directory was seen.
    Left(String),
}

/// Keys in the order of their bytes.
#[derive(Debug, Default)]
pub(super) struct Order {
    last: Option<String>,
    waiting: Vec<Listed>,
    inside: Vec<String>,
}

impl Order {
    /// What can be done when an object was seen, whose key is below the prefix that is copied.
    ///
    /// # Errors
    /// When keys come in another order.
    pub(super) fn next(&mut self, listed: Listed) -> Result<Vec<Step>> {
        let key = listed.key.clone();
        if let Some(last) = self.last.as_ref().filter(|last| **last >= key) {
            let detail = format!("keys are not listed in the order of their bytes: {key:?} comes after {last:?}");
            return Err(Error::Unsupported { op: "list".to_owned(), detail });
        }
        let mut steps = self.passed(Some(&key));
        self.last = Some(key.clone());
        if listed.size > 0 || !(key.is_empty() || key.ends_with('/')) {
            self.waiting.push(listed);
        } else if !key.is_empty() {
            self.inside.push(key.clone());
            steps.push(Step::Directory(key));
        }
        Ok(steps)
    }

    /// What is left when there are no more.
    pub(super) fn end(&mut self) -> Vec<Step> {
        self.passed(None)
    }

    fn passed(&mut self, key: Option<&str>) -> Vec<Step> {
        let mut steps = Vec::new();
        let after = |object: &Listed| key.and_then(|key| key.strip_prefix(&object.key)?.bytes().next());
        while let Some(listed) = self.waiting.pop_if(|object| after(object).is_none_or(|byte| byte >= b'/')) {
            let beside = after(&listed) == Some(b'/');
            steps.push(Step::Object { listed, beside });
        }
        while let Some(left) = self.inside.pop_if(|inside| !key.is_some_and(|key| key.starts_with(inside.as_str()))) {
            steps.push(Step::Left(left));
        }
        steps
    }
}

#[cfg(test)]
mod tests;
