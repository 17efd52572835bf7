//! The state of a mount, for people.

use crate::output::{Table, bytes, count, plural};
use serde::Deserialize;
use serde_json::Value;

/// What is known of a mount; everything but the first two may be missing if it does not answer.
#[derive(Debug, Deserialize)]
struct Mounted {
    mountpoint: String,
    store: String,
    state: String,
    why: Option<String>,
    endpoint: Option<String>,
    pid: Option<u32>,
    uid: Option<u32>,
    started: Option<String>,
    #[serde(default)]
    read_only: bool,
    log: Option<String>,
    metrics: Option<String>,
    volume: Option<Volume>,
    objects: Option<Objects>,
    store_health: Option<StoreHealth>,
}

/// What is known of the store.
#[derive(Debug, Deserialize)]
struct StoreHealth {
    requests: u64,
    bytes_in: u64,
    bytes_out: u64,
    failures_in_row: u64,
    waiting: u64,
    last_failure: Option<String>,
}

/// What the volume says.
#[derive(Debug, Deserialize)]
struct Volume {
    volume: Identity,
    fenced: Option<String>,
    dirty_bytes: u64,
    uncommitted_operations: u64,
    uploads_running: u64,
    cache_memory_bytes: u64,
    cache_disk_bytes: u64,
    memory_bytes_max: u64,
    used_bytes: u64,
    inodes: u64,
    last_error: Option<String>,
}

/// What a bucket says whose objects are mounted.
#[derive(Debug, Deserialize)]
struct Objects {
    bucket: String,
    prefix: String,
    inodes: u64,
    dirty_bytes: u64,
    cache_memory_bytes: u64,
    cache_disk_bytes: u64,
    memory_bytes_max: u64,
    #[serde(default)]
    renames: Vec<Rename>,
}

/// A directory that is being renamed.
#[derive(Debug, Deserialize)]
struct Rename {
    from: String,
    to: String,
    copied: u64,
    removed: u64,
}

#[derive(Debug, Deserialize)]
struct Identity {
    uuid: String,
    format_version: u32,
}

/// `status`, as a mount or [`super::all`] gave it, for people.
pub(super) fn text(status: &Value) -> String {
    match Mounted::deserialize(status) {
        Ok(mounted) => mounted.text(),
        // Another version's answer is better shown raw than not at all.
        Err(_) => status.to_string(),
    }
}

impl Mounted {
    fn text(&self) -> String {
        let mut table = Table::new(&[]);
        let store =
            self.endpoint.as_ref().map_or(self.store.clone(), |endpoint| format!("{} at {endpoint}", self.store));
        table.row(["  store", &store]);
        table.row(["  state", &self.state()]);
        if let Some(volume) = &self.volume {
            volume.rows(&mut table);
        }
        if let Some(objects) = &self.objects {
            objects.rows(&mut table);
        }
        if let Some(health) = &self.store_health {
            health.rows(&mut table);
        }
        if let Some(log) = &self.log {
            table.row(["  log", log]);
        }
        if let Some(metrics) = &self.metrics {
            table.row(["  metrics", metrics]);
        }
        format!("{}\n{table}", self.mountpoint)
    }

    fn state(&self) -> String {
        let mut state = match self.state.as_str() {
            "silent" => format!("DOES NOT ANSWER: {}", self.why.as_deref().unwrap_or("no reason known")),
            "unknown" => "its process is gone, or another user's".into(),
            "detached" => "detached; it ends when the last open file is closed".into(),
            "closing" => "unmounted; what is not in the store yet is on its way".into(),
            other => format!("{other}, {}", if self.read_only { "read-only" } else { "read-write" }),
        };
        if let (Some(pid), Some(uid), Some(started)) = (self.pid, self.uid, &self.started) {
            state.push_str(&format!(", pid {pid} of user {uid}, since {started}"));
        }
        if let Some(why) = self.volume.as_ref().and_then(|volume| volume.fenced.as_ref()) {
            state.push_str(&format!("\n           FENCED, takes no writes: {why}"));
        }
        state
    }
}

impl StoreHealth {
    fn rows(&self, table: &mut Table) {
        let traffic = format!(
            "{}, {} received, {} sent",
            plural(self.requests, "request"),
            bytes(self.bytes_in),
            bytes(self.bytes_out)
        );
        table.row(["  traffic", &traffic]);
        if self.failures_in_row > 0 {
            let failures = plural(self.failures_in_row, "failure");
            table.row([
                "  STORE",
                &format!("DOES NOT WORK: {failures} in a row; {} waiting", plural(self.waiting, "request")),
            ]);
        }
        if let Some(failure) = &self.last_failure {
            table.row(["  failed", failure]);
        }
    }
}

impl Volume {
    fn rows(&self, table: &mut Table) {
        table.row(["  volume", &format!("{} (format {})", self.volume.uuid, self.volume.format_version)]);
        table.row(["  used", &format!("{} in {}", bytes(self.used_bytes), plural(self.inodes, "inode"))]);
        table.row([
            "  dirty",
            &format!(
                "{} and {} not in the store yet, {} under way",
                bytes(self.dirty_bytes),
                plural(self.uncommitted_operations, "operation"),
                plural(self.uploads_running, "upload")
            ),
        ]);
        cached(table, self.cache_memory_bytes, self.memory_bytes_max, self.cache_disk_bytes);
        table.row(["  error", self.last_error.as_deref().unwrap_or("none")]);
    }
}

impl Objects {
    fn rows(&self, table: &mut Table) {
        table.row(["  objects", &format!("as they are: {}/{}", self.bucket, self.prefix)]);
        table.row(["  inodes", &format!("{} in use", count(self.inodes))]);
        table.row(["  dirty", &format!("{} not in the store yet", bytes(self.dirty_bytes))]);
        cached(table, self.cache_memory_bytes, self.memory_bytes_max, self.cache_disk_bytes);
        for Rename { from, to, copied, removed } in &self.renames {
            let done = format!("{} copied, {} removed", plural(*copied, "object"), count(*removed));
            table.row(["  renaming", &format!("{from} to {to}: {done}")]);
        }
    }
}

fn cached(table: &mut Table, memory_bytes: u64, memory_bytes_max: u64, disk_bytes: u64) {
    table.row(["  memory", &format!("{} cached; at most {} in all", bytes(memory_bytes), bytes(memory_bytes_max))]);
    table.row(["  disk", &format!("{} cached", bytes(disk_bytes))]);
}

#[cfg(test)]
mod tests;
