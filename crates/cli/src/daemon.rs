//! The process behind a mount: it opens the store, serves it, and closes it when it is unmounted.

mod announce;
mod backing;
mod count;
mod dead;
mod exporter;
mod fork;
mod health;
pub(crate) mod log;
mod objects;
mod plan;
mod serve;
mod served;
mod signals;

pub(crate) use announce::Announcement;
pub(crate) use fork::{Readiness, Side, background};
pub(crate) use plan::Plan;
pub(crate) use serve::run;
pub(crate) use served::limited;
pub(crate) use signals::Signals;
