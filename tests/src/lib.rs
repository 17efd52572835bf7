//! Harness of the end-to-end tests: the real `stoa` binary, mounted on a real directory.
//!
//! A test asks for a [`Place`] and works in its directory. By default that is a fresh volume in a [`TestStore`]
//! (a local directory, an S3 server in this process, or versitygw), which the test may also kill, unmount, mount again
//! and check. With `STOA_SUITE_DIR` it is a new directory below that one: the suites prove themselves on ext4 that way.
//!
//! Nothing is left behind: a [`Place`] unmounts and kills when it is dropped, a [`Watch`] kills it when its time is over,
//! and the kernel kills the server when the test process dies.
//!
//! | variable | meaning |
//! |---|---|
//! | `STOA_BIN` | the binary to test; else `target/release/stoa` or `target/debug/stoa` |
//! | `STOA_SUITE_DIR` | test this directory instead of a volume |
//! | `STOA_SUITE_STORE` | `directory`, `s3s`, `versitygw`, `minio` or `minio-tls`, instead of what a test asks for |
//! | `STOA_SUITE_LONG` | full sizes |
//! | `STOA_SUITE_SCRATCH` | where scratch directories go; else the system's |
//! | `STOA_SUITE_NOT_RUN` | a file to append the name of every test to that could not be run, and why |
//! | `STOA_SUITE_STORES_USED` | a file to append the name of every store used to |

pub mod command;
pub mod content;
mod fsck;
mod fsx;
pub mod locks;
pub mod mapping;
mod mount;
mod objects;
mod place;
pub mod scale;
mod store;
pub mod tools;
pub mod tree;
mod watch;

pub use fsck::{Fsck, Problem};
pub use fsx::Fsx;
pub use mount::Mount;
pub use objects::Objects;
pub use place::{Place, Setup, in_place};
pub use store::{StoreKind, TestStore};
pub use watch::Watch;
