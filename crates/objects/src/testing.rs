//! Support for tests: the suite that every provider passes, and an S3 server in this process.

pub mod conformance;
mod s3;

pub use s3::{S3Fault, S3Faults, S3Server};
