//! The cache as a whole, in front of a store that counts, waits and lies.

mod corrupt;
mod disk;
mod fetches;
mod model;
mod support;
