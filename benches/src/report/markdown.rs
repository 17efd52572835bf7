//! A table as Markdown: seconds side by side, then what they cost, then why some are missing.

use super::Table;
use crate::figure::Figure;
use crate::options::Options;
use crate::proxy::Requests;
use crate::scenarios::{self, Row};
use crate::store::Way;
use crate::systems::System;
use std::collections::BTreeMap;

const MIB: f64 = 1_048_576.0;
/// How much of a reason is shown.
const REASON_CHARS_MAX: usize = 160;

impl Table {
    /// Markdown, with the machine that it was measured on.
    pub(crate) fn markdown(&self, machine: &str, options: &Options) -> String {
        let way = match self.way {
            Way::Direct => "straight to the S3 server".to_owned(),
            Way::Proxied(latency) if latency.is_zero() => "no latency added".to_owned(),
            Way::Proxied(latency) => format!("{} ms added to each request", latency.as_millis()),
        };
        format!("{machine}; {way}.\n\n{}\n{}\n{}", self.seconds(options), self.costs(), self.reasons())
    }

    fn shown(&self) -> impl Iterator<Item = &'static Row> {
        scenarios::ALL.iter().flat_map(|scenario| scenario.rows).filter(|row| self.rows.contains(row.id))
    }

    /// Seconds. The fastest of Stoa and its peers is bold.
    fn seconds(&self, options: &Options) -> String {
        let names: Vec<&str> = self.systems.iter().map(|system| system.name()).collect();
        let mut text = format!("| seconds | {} |\n|---|{}\n", names.join(" | "), "---:|".repeat(names.len()));
        for row in self.shown() {
            let seconds = |system: System| self.median(row.id, system).map(|figure| figure.seconds);
            let rivals = self.systems.iter().filter(|system| !system.is_limit());
            let best = rivals.filter_map(|&system| seconds(system)).fold(f64::INFINITY, f64::min);
            let cells = self.systems.iter().map(|&system| match seconds(system) {
                Some(found) if found <= best && !system.is_limit() => format!("**{}**", digits(found)),
                Some(found) => digits(found),
                None => "-".to_owned(),
            });
            text += &format!("| {} | {} |\n", row.title(options), cells.collect::<Vec<_>>().join(" | "));
        }
        text
    }

    fn costs(&self) -> String {
        let mut text = "| row | system | s | CPU s | peak MiB | requests | sent MiB | received MiB | more |\n\
                        |---|---|---:|---:|---:|---|---:|---:|---|\n"
            .to_owned();
        for row in self.shown() {
            for &system in &self.systems {
                if let Some(figure) = self.median(row.id, system) {
                    text += &format!("| {} | {} | {} |\n", row.id, system.name(), cost(&figure));
                }
            }
        }
        text
    }

    /// Why figures are missing, each reason once.
    fn reasons(&self) -> String {
        let mut reasons: BTreeMap<(System, String), Vec<&str>> = BTreeMap::new();
        for row in self.shown() {
            for &system in self.systems.iter().filter(|&&system| self.median(row.id, system).is_none()) {
                reasons.entry((system, self.reason(row.id, system))).or_default().push(row.id);
            }
        }
        let lines = reasons.iter();
        lines.map(|((system, why), rows)| format!("- {}, {}: {why}\n", system.name(), rows.join(", "))).collect()
    }

    fn reason(&self, row: &'static str, system: System) -> String {
        match (self.failure(row, system), system) {
            // The last line says what went wrong; those before it, what was tried.
            (Some(why), _) => {
                let last = why.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
                last.trim().chars().take(REASON_CHARS_MAX).collect()
            }
            (None, System::Raw) => "no equivalent as requests".to_owned(),
            (None, _) => "not measured".to_owned(),
        }
    }
}

fn cost(figure: &Figure) -> String {
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let mib = |bytes: u64| format!("{:.1}", bytes as f64 / MIB);
    let more = figure.more.iter().map(|(name, value)| format!("{name} {}", digits(*value)));
    [
        digits(figure.seconds),
        or_dash(figure.cpu_seconds.map(|seconds| format!("{seconds:.2}"))),
        or_dash(figure.peak_bytes.map(|bytes| format!("{:.0}", bytes as f64 / MIB))),
        or_dash(figure.traffic.map(|traffic| requests(traffic.requests))),
        or_dash(figure.traffic.map(|traffic| mib(traffic.sent))),
        or_dash(figure.traffic.map(|traffic| mib(traffic.received))),
        more.collect::<Vec<_>>().join(", "),
    ]
    .join(" | ")
}

fn requests(requests: Requests) -> String {
    let Requests { get, list, head, put, post, delete } = requests;
    let kinds = [(put, "PUT"), (post, "POST"), (get, "GET"), (list, "LIST"), (head, "HEAD"), (delete, "DELETE")];
    let kinds = kinds.into_iter().filter(|(count, _)| *count > 0).map(|(count, kind)| format!("{count} {kind}"));
    let text = kinds.collect::<Vec<_>>().join(", ");
    if text.is_empty() { "none".to_owned() } else { text }
}

/// Three digits that count.
fn digits(value: f64) -> String {
    let before_point = value.abs().max(1e-9).log10().floor() as i32 + 1;
    let decimals = usize::try_from(3 - before_point).unwrap_or_default();
    format!("{value:.decimals$}")
}
