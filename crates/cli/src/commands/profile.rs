//! `stoa profile`.

use super::stats::snapshot;
use super::target;
use crate::args::Profile;
use crate::daemon::Signals;
use crate::failure::Outcome;
use crate::metrics::{Operation, Snapshot, in_between};
use crate::output::{self, Meter, Table, count, time};
use serde_json::{Value, json};
use std::time::Duration;

/// Shows the operations of a mount: since it began, or while this waits.
pub(crate) fn run(args: &Profile) -> Outcome<()> {
    let (record, socket) = target::live(&args.target)?;
    let first = snapshot(&record, &socket)?;
    let measured = match args.length {
        None => Measured::since_mount(first),
        Some(length) => {
            wait(length)?;
            Measured::between(&first, snapshot(&record, &socket)?)
        }
    };
    if args.report.json {
        output::json(&measured.json());
    } else {
        output::line(measured.text());
    }
    Ok(())
}

/// Waits for `length`, or until ^C: what was measured by then is worth showing.
fn wait(length: Duration) -> Outcome<()> {
    super::runtime()?.block_on(async {
        let mut signals = Signals::listen()?;
        let meter = Meter::new("measuring");
        let began = tokio::time::Instant::now();
        let mut tick = tokio::time::interval(Duration::from_secs(1));
        let ended = tokio::time::sleep(length);
        tokio::pin!(ended);
        loop {
            tokio::select! {
                () = &mut ended => return Ok(()),
                () = signals.next() => return Ok(()),
                _ = tick.tick() => meter.show("measuring; ^C ends it now", began.elapsed().as_secs(), length.as_secs()),
            }
        }
    })
}

/// Operations of some time, those that took longest together first.
#[derive(Debug)]
struct Measured {
    mountpoint: String,
    length: Duration,
    since_mount: bool,
    operations: Vec<Operation>,
}

impl Measured {
    fn since_mount(now: Snapshot) -> Self {
        Self::of(now.mountpoint, now.age_ns, true, now.operations)
    }

    fn between(first: &Snapshot, now: Snapshot) -> Self {
        let operations = in_between(&first.operations, &now.operations);
        Self::of(now.mountpoint, now.age_ns.saturating_sub(first.age_ns), false, operations)
    }

    fn of(mountpoint: String, length_ns: u64, since_mount: bool, mut operations: Vec<Operation>) -> Self {
        operations.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.name.cmp(&b.name)));
        Self { mountpoint, length: Duration::from_nanos(length_ns), since_mount, operations }
    }

    fn all(&self) -> Duration {
        self.operations.iter().map(Operation::total).sum()
    }

    fn text(&self) -> String {
        let since = if self.since_mount { "since it was mounted" } else { "while it was watched" };
        let head = format!("{}: {} {since}", self.mountpoint, time(self.length));
        if self.operations.is_empty() {
            return format!("{head}, and no operation reached it\n  what the kernel has cached it answers by itself");
        }
        let all_ns = self.all().as_nanos().max(1);
        let mut table = Table::new(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        table.row(["operation", "count", "total", "share", "mean", "p50", "p90", "p99", "max", "errors"]);
        for operation in &self.operations {
            table.row([
                operation.name.clone(),
                count(operation.count()),
                time(operation.total()),
                format!("{}%", (operation.total().as_nanos() * 100 + all_ns / 2) / all_ns),
                time(operation.mean()),
                time(operation.quantile(50)),
                time(operation.quantile(90)),
                time(operation.quantile(99)),
                time(operation.max()),
                count(operation.errors),
            ]);
        }
        format!("{head}\n\n{table}")
    }

    fn json(&self) -> Value {
        let seconds = |time: Duration| time.as_secs_f64();
        let one = |operation: &Operation| {
            json!({
                "operation": operation.name,
                "count": operation.count(),
                "errors": operation.errors,
                "total_seconds": seconds(operation.total()),
                "mean_seconds": seconds(operation.mean()),
                "p50_seconds": seconds(operation.quantile(50)),
                "p90_seconds": seconds(operation.quantile(90)),
                "p99_seconds": seconds(operation.quantile(99)),
                "max_seconds": seconds(operation.max()),
            })
        };
        json!({
            "mountpoint": self.mountpoint,
            "seconds": seconds(self.length),
            "since_mount": self.since_mount,
            "operations": self.operations.iter().map(one).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests;
