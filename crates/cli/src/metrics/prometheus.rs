//! A snapshot as Prometheus reads it: text exposition format 0.0.4.

use super::{Operation, Snapshot, VolumeFigures};
use std::fmt::Write;

/// The type of the text, for HTTP.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The ends of the buckets that are shown, in microseconds: fewer than are counted, because each costs a time series for each
/// operation.
const ENDS_US: [u64; 18] = [
    4,
    16,
    64,
    250,
    500,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    5_000_000,
    30_000_000,
    120_000_000,
];

/// `now` in that format.
pub(crate) fn text(now: &Snapshot) -> String {
    let mut text = Text::default();
    let version = env!("CARGO_PKG_VERSION");
    let labels = [("version", version), ("store", &now.store_name), ("mountpoint", &now.mountpoint)];
    text.family("stoa_info", "gauge", "What is mounted; always 1.").sample("stoa_info", &labels, 1);
    text.one("stoa_uptime_seconds", "gauge", "Time since the mount began.", seconds(now.age_ns));
    operations(&mut text, now);
    store(&mut text, now);
    cache(&mut text, now);
    text.one("stoa_dirty_bytes", "gauge", "Bytes written by programs and not in the store yet.", now.dirty_bytes);
    let help = "Changes of names and attributes that are not durable yet.";
    text.one("stoa_uncommitted_operations", "gauge", help, now.uncommitted_operations);
    if let Some(figures) = &now.volume {
        volume(&mut text, figures);
    }
    text.one("stoa_resident_memory_bytes", "gauge", "Memory of the process behind the mount.", now.resident_bytes);
    let help = "The ceiling of dirty data and caches together (--memory).";
    text.one("stoa_memory_max_bytes", "gauge", help, now.memory_bytes_max);
    text.0
}

fn volume(text: &mut Text, now: &VolumeFigures) {
    text.one("stoa_uploads_running", "gauge", "Uploads under way.", now.uploads_running);
    text.one("stoa_volume_used_bytes", "gauge", "Bytes of file data in the volume.", now.used_bytes);
    text.one("stoa_volume_inodes", "gauge", "Inodes in use.", now.inodes);
    let help = "1 if another mount has taken the volume over and this one takes no writes any more.";
    text.one("stoa_fenced", "gauge", help, u64::from(now.fenced));
}

fn operations(text: &mut Text, now: &Snapshot) {
    const NAME: &str = "stoa_operation_duration_seconds";
    let help = "Operations that programs asked of the mount, from reading the request to answering it.";
    text.family(NAME, "histogram", help);
    for operation in &now.operations {
        histogram(text, NAME, operation);
    }
    text.family("stoa_operation_errors_total", "counter", "Operations answered with an error.");
    for operation in &now.operations {
        text.sample("stoa_operation_errors_total", &[("operation", &operation.name)], operation.errors);
    }
    let help = "Operations that wait for the store or for memory.";
    text.one("stoa_operations_waiting", "gauge", help, now.operations_waiting);
    let help = "Bytes of files that programs read, but for what the kernel had cached.";
    text.one("stoa_read_bytes_total", "counter", help, now.read_bytes);
    text.one("stoa_written_bytes_total", "counter", "Bytes of files that programs wrote.", now.written_bytes);
}

/// A count belongs to the first end that is not below its bucket's: a time is never shown as shorter than it may have been.
fn histogram(text: &mut Text, name: &str, operation: &Operation) {
    let label = ("operation", operation.name.as_str());
    let bucket = format!("{name}_bucket");
    for end_us in ENDS_US {
        let end_ns = end_us * 1000;
        let within =
            operation.buckets.iter().filter(|(longest, _)| *longest <= end_ns).map(|(_, count)| count).sum::<u64>();
        text.sample(&bucket, &[label, ("le", &seconds(end_ns).to_string())], within);
    }
    text.sample(&bucket, &[label, ("le", "+Inf")], operation.count());
    text.sample(&format!("{name}_sum"), &[label], seconds(operation.total_ns));
    text.sample(&format!("{name}_count"), &[label], operation.count());
}

fn store(text: &mut Text, now: &Snapshot) {
    let store = &now.store;
    text.family("stoa_store_requests_total", "counter", "Requests sent to the store, repeated ones included.");
    for requests in &store.requests {
        text.sample("stoa_store_requests_total", &[("verb", &requests.verb)], requests.count);
    }
    text.one("stoa_store_received_bytes_total", "counter", "Bytes of objects received.", store.received_bytes);
    text.one("stoa_store_sent_bytes_total", "counter", "Bytes of objects sent.", store.sent_bytes);
    let help = "Requests answered with an error, \"not found\" and the like included.";
    text.one("stoa_store_error_answers_total", "counter", help, store.failed_answers);
    let help = "Attempts that failed in a way that is tried again or given up on.";
    text.one("stoa_store_failures_total", "counter", help, store.failures);
    let help = "Attempts that failed since one succeeded; 0 while the store works.";
    text.one("stoa_store_failures_in_row", "gauge", help, store.failures_in_row);
    let help = "Operations that wait for their next attempt at the store.";
    text.one("stoa_store_waiting", "gauge", help, store.waiting);
}

fn cache(text: &mut Text, now: &Snapshot) {
    let cache = &now.cache;
    let help = "Pieces that readers asked for and that were in memory.";
    text.one("stoa_cache_hits_total", "counter", help, cache.hits);
    let help = "Pieces that readers asked for and that were not in memory.";
    text.one("stoa_cache_misses_total", "counter", help, cache.misses);
    let help = "Pieces that were not in memory but on disk, those read ahead included.";
    text.one("stoa_cache_disk_hits_total", "counter", help, cache.disk_hits);
    text.one("stoa_cache_fetched_bytes_total", "counter", "Bytes that the cache fetched.", cache.fetched_bytes);
    text.one("stoa_cache_evictions_total", "counter", "Pieces thrown out of memory to make room.", cache.evictions);
    text.family("stoa_cache_bytes", "gauge", "Bytes cached.");
    text.sample("stoa_cache_bytes", &[("where", "memory")], cache.memory_bytes);
    text.sample("stoa_cache_bytes", &[("where", "disk")], cache.disk_bytes);
    text.family("stoa_cache_max_bytes", "gauge", "Most bytes that are kept.");
    text.sample("stoa_cache_max_bytes", &[("where", "memory")], cache.memory_bytes_max);
    text.sample("stoa_cache_max_bytes", &[("where", "disk")], cache.disk_bytes_max);
}

#[allow(clippy::cast_precision_loss, reason = "after 100 days of nanoseconds, what is lost is a nanosecond")]
fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// The text so far. Writing to a string can't fail.
#[derive(Debug, Default)]
struct Text(String);

impl Text {
    /// Begins a family of samples.
    fn family(&mut self, name: &str, kind: &str, help: &str) -> &mut Self {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        self
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    /// A family of one sample.
    fn one(&mut self, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
        self.family(name, kind, help).sample(name, &[], value);
    }
}

/// As the value of a label has to be written.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests;
