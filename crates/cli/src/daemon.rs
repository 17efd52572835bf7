//! The process behind a mount: it opens the volume, serves it, and closes it when it is unmounted.

mod announce;
mod count;
mod exporter;
mod fork;
mod health;
pub(crate) mod log;
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
