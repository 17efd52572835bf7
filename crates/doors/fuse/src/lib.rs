//! doors/fuse
