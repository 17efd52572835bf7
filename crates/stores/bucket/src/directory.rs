//! Directories: keys that begin alike.

use crate::escape::{self, Part};
use std::sync::Arc;

/// A directory, by what the keys in it begin with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Directory {
    prefix: Arc<str>,
    /// How much of `prefix` are whole components, each with its slash. The rest is the beginning of one that is too long for a
    /// name: the directory is one of [`escape::Role::Continued`].
    whole: usize,
}

impl Directory {
    /// The one of all keys that begin with `prefix`, which is empty or ends with a slash.
    pub(crate) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.into(), whole: prefix.len() }
    }

    /// What the keys in it begin with.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether it is one component's beginning, and no directory of its own.
    pub(crate) fn is_continued(&self) -> bool {
        self.whole < self.prefix.len()
    }

    /// The component that the names above it have begun; empty for most.
    pub(crate) fn begun(&self) -> &str {
        self.prefix.get(self.whole..).unwrap_or_default()
    }

    /// The component of an object in it: all of its key that follows the whole ones above.
    pub(crate) fn component<'k>(&self, key: &'k str) -> &'k str {
        key.get(self.whole..).unwrap_or_default()
    }

    /// The name that a component has in here, if it has one.
    pub(crate) fn part(&self, component: &str, beside: bool) -> Option<Part> {
        escape::part_at(component, beside, self.prefix.len() - self.whole)
    }

    /// The key of the object of a component.
    pub(crate) fn key(&self, component: &str) -> String {
        format!("{}{component}", self.above())
    }

    /// The directory of a component.
    pub(crate) fn below(&self, component: &str) -> Self {
        Self::new(&format!("{}{component}/", self.above()))
    }

    /// The one in which a component that is too long goes on after `begun`.
    pub(crate) fn continued(&self, begun: &str) -> Self {
        Self { prefix: self.key(begun).into(), whole: self.whole }
    }

    /// The one that holds it; `None` for that of all keys.
    pub(crate) fn parent(&self) -> Option<Self> {
        let (above, component) = if self.is_continued() {
            (self.above(), self.begun())
        } else {
            let path = self.prefix.strip_suffix('/')?;
            path.split_at(path.rfind('/').map_or(0, |slash| slash + 1))
        };
        let begun = component.get(..escape::last_start(component)).unwrap_or_default();
        Some(Self { prefix: format!("{above}{begun}").into(), whole: above.len() })
    }

    /// What it is when `from`, which it is or lies in, becomes `to`.
    pub(crate) fn moved(&self, from: &Self, to: &Self) -> Option<Self> {
        let prefix = format!("{}{}", to.prefix, self.prefix.strip_prefix(from.prefix())?);
        let whole = self.whole.checked_sub(from.prefix.len())? + to.prefix.len();
        Some(Self { prefix: prefix.into(), whole })
    }

    fn above(&self) -> &str {
        self.prefix.get(..self.whole).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
