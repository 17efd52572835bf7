//! wire/fuse
