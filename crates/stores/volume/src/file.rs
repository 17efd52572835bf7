//! Open and dirty files: what programs wrote and the store does not have yet.

mod layer;
mod state;
mod table;
mod view;

pub(crate) use layer::{Layer, Piece};
pub(crate) use state::{File, FileState, Frozen};
pub(crate) use table::Files;
pub(crate) use view::{Span, overlay};
