//! Random operations on a store and on the [`crate::Model`] at once.
//!
//! A [`Script`] is a list of operations that does not depend on what they do, so the same script runs on anything:
//! operations name files by paths of a small namespace, where most of them meet something, and open files by slots.
//! [`apply()`] does one and says what came of it, in terms that do not depend on inode numbers or clocks. [`snapshot()`] takes a
//! picture of the whole tree, and [`diff`] tells two apart. Crash tests use these parts as well.

mod apply;
mod differential;
mod generate;
mod held;
mod op;
mod seek;
mod snapshot;

pub use apply::{AttrView, Outcome, State, apply};
pub use differential::{differential, differential_with};
pub use generate::Script;
pub use op::{Op, Path};
pub use snapshot::{Picture, Tree, diff, snapshot};
