//! A bucket as files, over the S3 server in this process: names, listings, lookups, attributes, reads, and what each costs.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the functions that only prepare a test, too"
)]

#[path = "bucket/attributes.rs"]
mod attributes;
#[path = "bucket/closing.rs"]
mod closing;
#[path = "bucket/conflicts.rs"]
mod conflicts;
#[path = "bucket/copies.rs"]
mod copies;
#[path = "bucket/edits.rs"]
mod edits;
#[path = "bucket/faults.rs"]
mod faults;
#[path = "bucket/listings.rs"]
mod listings;
#[path = "bucket/lookups.rs"]
mod lookups;
#[path = "bucket/names.rs"]
mod names;
#[path = "bucket/opens.rs"]
mod opens;
#[path = "bucket/past.rs"]
mod past;
#[path = "bucket/reads.rs"]
mod reads;
#[path = "bucket/removes.rs"]
mod removes;
#[path = "bucket/renames.rs"]
mod renames;
#[path = "bucket/trees.rs"]
mod trees;
#[path = "bucket/world.rs"]
mod world;
#[path = "bucket/writes.rs"]
mod writes;
