//! The namespace of a volume: what files there are, what they are called, and where their bytes lie.
//!
//! [`Meta`] is made of whole file-system operations, so that the embedded [`Engine`] and, later, a remote service can stand
//! behind it. It knows segments by number only and never sees file data, but for the few bytes of an inline extent.

mod engine;
mod error;
mod extent;
mod meta;
pub mod record;

#[cfg(any(test, feature = "testing"))]
pub use engine::testing;
pub use engine::{Engine, EngineOptions, Fences, RootOptions};
pub use error::{Error, Result};
pub use extent::{Codec, Content, Extent, FrameRef, Run, SegmentId};
pub use meta::{ChangeAttr, FileUpdate, Fix, Linked, Meta, NewSegment, SegmentUse, Totals, Visit};
