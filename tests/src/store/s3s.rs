//! The S3 server in this process, with its faults.

use super::Access;
use anyhow::Result;
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use std::time::Duration;
use stoa_objects::testing::{S3Fault, S3Server};
use tokio::runtime::Runtime;

/// Parts of keys that meet trouble: any, file data, the log of the namespace, its tables, its manifest. Apart, so that
/// faults are spread over a run instead of all meeting its first requests.
const TARGETS: [&str; 5] = ["", "/data/", "/wal/", "/compacted/", "/manifest/"];

#[derive(Debug)]
pub(super) struct S3s {
    // Before the runtime that it runs on.
    server: S3Server,
    _runtime: Runtime,
}

impl S3s {
    pub(super) fn start(bucket: &str) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let server = runtime.block_on(S3Server::start(bucket))?;
        Ok(Self { server, _runtime: runtime })
    }

    pub(super) fn access(&self) -> Access {
        Access::s3(&self.server.endpoint, &self.server.access_key, &self.server.secret_key)
    }

    /// As if the server were unplugged: every connection is closed before its request takes effect.
    pub(super) fn stop(&self) {
        self.server.faults.every(Some(S3Fault::Drop));
    }

    pub(super) fn resume(&self) {
        self.server.faults.every(None);
    }

    pub(super) fn keep_versions(&self, bucket: &str) {
        self.server.keep_versions(bucket);
    }

    pub(super) fn refuse(&self, folder: &str) {
        // To begin an upload is POST.
        for method in ["PUT", "POST"] {
            self.server.faults.each(method, format!("/{folder}/"), S3Fault::Status(403));
        }
    }

    pub(super) fn lose(&self, folder: &str) {
        self.server.faults.each("PUT", format!("/{folder}/"), S3Fault::Drop);
    }

    pub(super) fn toll(&self, demanded: bool) {
        self.server.faults.toll(demanded);
    }

    pub(super) fn accept(&self) {
        self.server.faults.end_each();
    }

    pub(super) fn requests(&self) -> u64 {
        self.server.faults.requests()
    }

    pub(super) fn trouble(&self, seed: u64, requests: u32) {
        let mut rng = SmallRng::seed_from_u64(seed);
        for _ in 0..requests {
            let reads = rng.random_bool(0.2);
            let method = if reads { "GET" } else { "PUT" };
            // No server answers 200 with an error to a GET, whose body is what was asked for.
            let fault = match rng.random_range(0..if reads { 8 } else { 9 }) {
                0 => S3Fault::Status(500),
                1 => S3Fault::Status(503),
                2 => S3Fault::StatusAfter(500),
                3 => S3Fault::Delay(Duration::from_millis(rng.random_range(1..700))),
                4 => S3Fault::Drop,
                5 => S3Fault::DropAfter,
                6 => S3Fault::CutBody,
                7 => S3Fault::StatusAfter(503),
                _ => S3Fault::OkWithError,
            };
            let target = TARGETS.choose(&mut rng).copied().unwrap_or_default();
            self.server.faults.next(method, target, fault);
        }
    }
}
