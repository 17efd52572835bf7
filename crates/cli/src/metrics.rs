//! What a mount counted: the values that `stats`, `profile` and the metrics endpoint are made of.
//!
//! The process behind a mount takes a [`Snapshot`]; who wants to know what happened meanwhile takes two, and subtracts.

mod figures;
mod operation;
pub(crate) mod prometheus;
pub(crate) mod snapshot;

pub(crate) use figures::{Latency, Rate, StoreFigures};
pub(crate) use operation::{Operation, in_between};
pub(crate) use snapshot::{Cache, Requests, Snapshot, Store, VolumeFigures};
