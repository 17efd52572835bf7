//! Whether the extents of a file cover it.

use super::found::Found;
use super::node::Node;
use stoa_meta::{Extent, Fix};
use stoa_vfs::{Ino, Kind};

/// The extents of one file, as far as they were seen.
#[derive(Debug, Default)]
pub(super) struct Cover {
    /// Where the last one ends.
    end: u64,
    /// Bytes of those that are not holes.
    data_bytes: u64,
    broken: bool,
}

impl Cover {
    /// Hears of the next extent of file `ino`.
    pub(super) fn add(&mut self, ino: Ino, extent: &Extent, found: &mut Found) {
        let (start, end) = (extent.offset, self.end);
        // The first break says where to look; what follows it is often wrong for the same reason.
        if start != end && !self.broken {
            self.broken = true;
            found.lasting(if start > end {
                format!("inode {ino} has neither data nor a hole at offset {end}")
            } else {
                format!("inode {ino} has two extents at offset {start}")
            });
        }
        self.end = extent.end();
        self.data_bytes = self.data_bytes.saturating_add(extent.data_bytes());
    }

    /// Reports where they do not agree with the inode, when all were seen.
    pub(super) fn check(&self, ino: Ino, node: &Node, found: &mut Found) {
        if node.kind != Kind::Regular {
            if self.end > 0 {
                found.lasting(format!("inode {ino} is {:?}, and has extents", node.kind));
            }
        } else if !self.broken && self.end != node.size {
            found.lasting(format!("inode {ino} is {} bytes long; its extents end at {}", node.size, self.end));
        }
        if node.data_bytes != self.data_bytes {
            let what =
                format!("inode {ino} counts {} bytes of data; its extents have {}", node.data_bytes, self.data_bytes);
            found.mendable(what, Fix::DataBytes(ino, self.data_bytes));
        }
    }
}
