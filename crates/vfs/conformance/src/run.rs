//! Running cases.

use crate::fs::Fs;
use futures::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use stoa_vfs::Vfs;

/// A case that takes longer hangs: the slowest need seconds.
const CASE_SECONDS_MAX: u64 = 300;

/// What a store can do. Most stores can do it [all](Capabilities::ALL); what one cannot, it refuses, and its cases are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Files with several names.
    pub hard_links: bool,
    /// FIFOs, sockets and devices.
    pub special_files: bool,
    /// Files without a name (`O_TMPFILE`).
    pub unnamed_files: bool,
    /// [`stoa_vfs::RenameMode::Exchange`].
    pub exchange: bool,
    /// [`stoa_vfs::Allocate::Collapse`] and [`stoa_vfs::Allocate::Insert`].
    pub shift_ranges: bool,
    /// Extended attributes.
    pub xattrs: bool,
    /// POSIX ACLs.
    pub acls: bool,
}

impl Capabilities {
    /// Everything.
    pub const ALL: Self = Self {
        hard_links: true,
        special_files: true,
        unnamed_files: true,
        exchange: true,
        shift_ranges: true,
        xattrs: true,
        acls: true,
    };
}

/// One case, by its name.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// `subject::case`.
    pub name: &'static str,
    run: fn(Fs) -> BoxFuture<'static, ()>,
}

/// Makes the list of [`CASES`] out of the list of names.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_case_table {
    (() $($subject:ident { $($case:ident,)* })*) => {
        &[$($(
            Case {
                name: concat!(stringify!($subject), "::", stringify!($case)),
                run: |fs| Box::pin($crate::cases::$subject::$case(fs)),
            },
        )*)*]
    };
}

/// Every case.
pub const CASES: &[Case] = crate::conformance_cases!(conformance_case_table, ());

impl Case {
    /// Runs the case on an empty store; an error says how it failed.
    ///
    /// # Errors
    /// The panic of the case, or that it did not end.
    pub async fn run(&self, vfs: Arc<dyn Vfs>, capabilities: Capabilities) -> Result<(), String> {
        let case = (self.run)(Fs::new(vfs, capabilities));
        let limited = tokio::time::timeout(Duration::from_secs(CASE_SECONDS_MAX), case);
        match tokio::spawn(limited).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(format!("{} did not end in {CASE_SECONDS_MAX} s", self.name)),
            Err(panicked) => Err(format!("{}: {panicked}", self.name)),
        }
    }
}

/// Runs every case, each on a store of its own that `make` made, and panics with the names of those that failed.
pub async fn run_all<M, F>(make: M, capabilities: Capabilities)
where
    M: Fn() -> F,
    F: Future<Output = Arc<dyn Vfs>>,
{
    let mut failed = Vec::new();
    for case in CASES {
        if let Err(failure) = case.run(make().await, capabilities).await {
            failed.push(failure);
        }
    }
    assert!(failed.is_empty(), "{} of {} cases failed:\n{}", failed.len(), CASES.len(), failed.join("\n"));
}

/// Runs one case by name in a runtime of its own: the body of each test of [`conformance_tests!`].
#[doc(hidden)]
pub fn run_test<M, F>(name: &str, make: M, capabilities: Capabilities)
where
    M: FnOnce() -> F,
    F: Future<Output = Arc<dyn Vfs>>,
{
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let result = runtime.block_on(async { case.run(make().await, capabilities).await });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

/// Makes one `#[test]` of every case, in modules by subject: `conformance_tests!(make)` or
/// `conformance_tests!(make, capabilities)`, where `make` is a path to an `async fn() -> Arc<dyn Vfs>` that makes an
/// empty store, and is called inside a Tokio runtime with two workers.
#[macro_export]
macro_rules! conformance_tests {
    ($make:expr) => {
        $crate::conformance_tests!($make, $crate::Capabilities::ALL);
    };
    ($make:expr, $capabilities:expr) => {
        $crate::conformance_cases!(conformance_test_modules, ($make, $capabilities));
    };
}

/// One module of tests a subject.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_test_modules {
    ($context:tt $($subject:ident { $($case:ident,)* })*) => {
        $(mod $subject {
            #[allow(unused_imports, reason = "what the caller's expressions name may be in scope or be a full path")]
            use super::*;
            $(
                #[test]
                fn $case() {
                    $crate::conformance_test_body!($context $subject $case);
                }
            )*
        })*
    };
}

/// The body of one test.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_test_body {
    (($make:expr, $capabilities:expr) $subject:ident $case:ident) => {
        $crate::run::run_test(concat!(stringify!($subject), "::", stringify!($case)), $make, $capabilities)
    };
}
