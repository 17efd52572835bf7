//! Real mounts of the in-memory model, through real system calls. They need root and /dev/fuse.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test that can't go on has failed, and says why")]

#[path = "mount/attributes.rs"]
mod attributes;
#[path = "mount/directories.rs"]
mod directories;
#[path = "mount/files.rs"]
mod files;
#[path = "mount/hooked.rs"]
mod hooked;
#[path = "mount/mounted.rs"]
mod mounted;
#[path = "mount/mounting.rs"]
mod mounting;
#[path = "mount/names.rs"]
mod names;
#[path = "mount/pages.rs"]
mod pages;
#[path = "mount/privileges.rs"]
mod privileges;
#[path = "mount/ranges.rs"]
mod ranges;
#[path = "mount/waiting.rs"]
mod waiting;
#[path = "mount/xattrs.rs"]
mod xattrs;
