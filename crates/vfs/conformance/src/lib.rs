//! vfs/conformance
