//! Object access for Stoa: providers, and layers that wrap any provider.
//!
//! Everything is an `Arc<dyn object_store::ObjectStore>`. A [`Location`] names where objects are; [`connect()`] makes a
//! store of it: provider, prefix, then [`Meter`], [`Limit`] and [`Retry`], from the inside out. A test puts
//! [`FaultPlan`] or [`Latency`] in between.
//!
//! **An acknowledged put is durable** in every provider but `memory:`: the directory provider syncs the file and each
//! directory above it before it answers.
//!
//! Nothing here reads the environment but [`connect()`], which says what it reads, and nothing prints a secret.

mod bench;
mod classify;
mod connect;
mod directory;
mod error;
mod fault;
mod health;
mod hex;
mod latency;
mod limit;
mod location;
mod meter;
mod probe;
mod redact;
mod retry;
pub mod s3;
mod verb;

#[cfg(feature = "testing")]
pub mod testing;

pub use bench::{BenchOptions, BenchReport, Moved, bench};
pub use connect::{ConnectOptions, Connected, connect};
pub use directory::Directory;
pub use error::{Error, Result};
pub use fault::{FaultCounts, FaultPlan, Injection, Odds};
pub use health::{Failure, Health, HealthReport};
pub use hex::hex;
pub use latency::Latency;
pub use limit::Limit;
pub use location::Location;
pub use meter::{Counts, Meter};
pub use probe::probe;
pub use retry::{Retry, RetryPolicy};
pub use verb::Verb;
