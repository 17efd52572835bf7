//! What the cache of a volume did and holds.

use crate::volume::Volume;
use stoa_cache::Usage;

impl Volume {
    /// What the cache did and holds.
    #[must_use]
    pub fn cache_usage(&self) -> Usage {
        self.cache.usage()
    }
}
