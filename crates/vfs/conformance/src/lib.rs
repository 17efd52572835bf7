//! What every store must do, as three things.
//!
//! - [`Model`]: a whole file system in memory, the reference.
//! - The suite: [`conformance_tests!`] makes one test of every case, [`run_all`] runs them all.
//! - [`random`]: random operations on a store and on the model at once, and pictures of a whole tree to compare.

pub mod model;

#[allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    reason = "test code that is shipped as a library: a case fails by panicking, and its name says what it is about"
)]
pub mod cases;
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "test code that is shipped as a library: a step that can't be taken fails the case"
)]
pub mod fs;
#[allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "test code that is shipped as a library: what must not happen fails the test"
)]
pub mod random;
#[allow(clippy::unwrap_used, clippy::panic, reason = "test code that is shipped as a library")]
pub mod run;

pub use model::Model;
pub use random::{Op, Outcome, Script, State, Tree, apply, diff, differential, differential_with, snapshot};
pub use run::{Capabilities, run_all};
