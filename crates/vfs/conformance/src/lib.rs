//! What every store must do, and the in-memory [`Model`] that obviously does it.

pub mod model;

pub use model::Model;
