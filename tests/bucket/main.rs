//! Objects as files, through real mounts: `stoa mount --objects`.

mod asking;
mod attributes;
mod edits;
mod headers;
mod interop;
mod listings;
mod messages;
mod names;
mod reads;
mod renames;
mod requester_pays;
mod rights;
mod setting;
mod sse_c;
mod tls;
mod transfer;
mod uploads;
mod versions;
mod writes;
mod xattrs;
