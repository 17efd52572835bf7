//! Suites that others wrote, run against a mount.

mod fio;
mod fsx;
mod pjdfstest;
