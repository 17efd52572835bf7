//! Object access for Stoa.

/// Placeholder until the crate is written.
#[derive(Debug, thiserror::Error)]
#[error("object store")]
pub struct Error;
