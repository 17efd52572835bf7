//! Objects as files, through real mounts: `stoa mount --objects`.

mod attributes;
mod headers;
mod interop;
mod listings;
mod messages;
mod names;
mod reads;
mod renames;
mod setting;
mod writes;
mod xattrs;
