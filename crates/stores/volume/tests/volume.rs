//! Volumes over an object store in memory: what they keep, through crashes, faults, damage and little memory, and what that costs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "the functions that only prepare a test, too"
)]

#[path = "volume/crash.rs"]
mod crash;
#[path = "volume/damaged.rs"]
mod damaged;
#[path = "volume/growth.rs"]
mod growth;
#[path = "volume/history.rs"]
mod history;
#[path = "volume/hooked.rs"]
mod hooked;
#[path = "volume/opening.rs"]
mod opening;
#[path = "volume/pressure.rs"]
mod pressure;
#[path = "volume/random.rs"]
mod random;
#[path = "volume/refusal.rs"]
mod refusal;
#[path = "volume/replacing.rs"]
mod replacing;
#[path = "volume/requests.rs"]
mod requests;
#[path = "volume/scattered.rs"]
mod scattered;
#[path = "volume/streams.rs"]
mod streams;
#[path = "volume/world.rs"]
mod world;
