//! The figures, for people.

use super::Measured;
use crate::metrics::{Latency, Rate};
use crate::output::{Table, bytes, count, time};
use std::time::Duration;

/// As a table; of one column for a store, of two for a mount and the store behind it.
pub(super) fn text(measured: &Measured) -> String {
    let (store, mount) = (&measured.store, measured.mount.as_ref());
    let mut rows = vec![
        ["", "store", "mount", ""].map(str::to_owned),
        row("large writes", rate(store.put), mount.map(|mount| rate(mount.write_and_fsync)), {
            let objects = "store: objects of 16 MiB, 8 at once";
            if mount.is_some() { format!("{objects}; mount: one file, then fsync") } else { objects.into() }
        }),
        row("large reads", rate(store.get), mount.map(|mount| rate(mount.read_back)), {
            let back = |mount: &super::FileFigures| {
                format!(
                    "mount: the file read back, {} of {} from the store, the rest cached",
                    bytes(mount.read_back_received_bytes.min(mount.read_back.bytes)),
                    bytes(mount.read_back.bytes)
                )
            };
            mount.map_or("the same objects".into(), back)
        }),
        row("small writes", latency(store.small_put), mount.map(|_| String::new()), "PUT of 4 KiB: p50 / p99".into()),
        row(
            "small reads",
            latency(store.small_get),
            mount.map(|mount| latency(mount.random_read)),
            format!(
                "GET of 4 KiB{}: p50 / p99",
                if mount.is_some() { "; 4 KiB at random places of the file" } else { "" }
            ),
        ),
        row("list", time(seconds(store.list_seconds)), mount.map(|_| String::new()), {
            format!("{} objects", count(store.list_objects))
        }),
    ];
    if let Some(mount) = mount {
        let created = time(seconds(mount.small_create_seconds));
        let durable = time(seconds(mount.small_sync_seconds));
        let note =
            format!("{} files of 4 KiB made; then {durable} until they are in the store", count(mount.small_files));
        rows.push(row("small files", String::new(), Some(created), note));
    }
    // Without a mount, the notes are in its place.
    let mut table = Table::new(if mount.is_some() { &[1, 2] } else { &[1] });
    for [what, store, in_mount, note] in rows {
        if mount.is_some() {
            table.row([what, store, in_mount, note]);
        } else {
            table.row([what, store, note]);
        }
    }
    format!("{}\n\n{table}", measured.name)
}

fn row(what: &str, store: String, mount: Option<String>, note: String) -> [String; 4] {
    [what.to_owned(), store, mount.unwrap_or_default(), note]
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate is neither negative nor beyond 2^64"
)]
fn rate(rate: Rate) -> String {
    format!("{}/s", bytes(rate.bytes_per_second.round() as u64))
}

fn latency(latency: Latency) -> String {
    format!("{} / {}", time(seconds(latency.p50_seconds)), time(seconds(latency.p99_seconds)))
}

fn seconds(seconds: f64) -> Duration {
    // It was a time before it was a number.
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

#[cfg(test)]
mod tests;
