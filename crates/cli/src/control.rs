//! How commands talk to the process behind a mount: a Unix socket and a record beside it, in a directory only its user may enter.
//!
//! One request a connection, as a line of JSON; the answer is any number of progress lines and a last one with the result
//! or the reason there is none.

mod client;
mod protocol;
mod record;
mod registry;
mod server;
mod steps;

pub(crate) use client::{Connection, Wait, all, find};
pub(crate) use protocol::{Reply, Request};
pub(crate) use record::Record;
pub(crate) use registry::{Claim, Registry, gid, uid};
pub(crate) use server::{Answers, serve};
pub(crate) use steps::{Step, Steps};

#[cfg(test)]
mod tests;
