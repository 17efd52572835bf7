//! `stoa stats`.

mod line;

use super::target;
use crate::args::Stats;
use crate::control::{Connection, Record, Request, Wait};
use crate::failure::{Failure, Outcome};
use crate::metrics::Snapshot;
use crate::output;
use line::Line;
use serde::Deserialize;
use std::path::Path;
use std::time::Instant;

/// Prints a line now, and one after each interval.
pub(crate) fn run(args: &Stats) -> Outcome<()> {
    let (record, socket) = target::live(&args.target)?;
    let mut last = snapshot(&record, &socket)?;
    let mut due = Instant::now();
    let mut header = Header::default();
    let mut line = Line::since_mount(&last);
    let mut printed = 0;
    loop {
        let is_read =
            if args.json { output::live_line(line.json()) } else { header.print() && output::live_line(line.text()) };
        printed += 1;
        // A reader that has gone (`| head`) wants no more; that is no error.
        if !is_read || args.count == Some(printed) {
            return Ok(());
        }
        due += args.interval;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let now = snapshot(&record, &socket)?;
        line = Line::between(&last, &now);
        last = now;
    }
}

/// Asks a mount what it has counted.
pub(super) fn snapshot(record: &Record, socket: &Path) -> Outcome<Snapshot> {
    let answer = Connection::open(record, socket, &Request::Metrics, Wait::Briefly)
        .and_then(|connection| connection.result(|_, _, _| {}));
    match answer {
        Ok(value) => Snapshot::deserialize(&value).map_err(|error| {
            Failure::because("the mount counts in a way that is not understood", &error)
                .advise("it is of another version of stoa: unmount it and mount it again")
        }),
        Err(_) if !record.is_alive() => {
            let why = match &record.log {
                Some(log) => format!("it was unmounted; if not, its log says why: {log}"),
                None => "it was unmounted, or its process ended".into(),
            };
            Err(Failure::new(format!("the mount of {} (pid {}) has ended", record.mountpoint, record.pid)).advise(why))
        }
        Err(failure) => Err(failure),
    }
}

/// Repeats the header when it has left the screen; in a file or pipe it stands once.
#[derive(Debug, Default)]
struct Header {
    lines_since: Option<usize>,
}

impl Header {
    /// Prints it if it is time; whether anybody reads.
    fn print(&mut self) -> bool {
        let lines = self.lines_since.map_or(usize::MAX, |lines| lines + 1);
        // It takes two lines itself.
        let is_due = lines == usize::MAX || output::screen_lines().is_some_and(|screen| lines + 3 > screen.max(10));
        self.lines_since = Some(if is_due { 0 } else { lines });
        !is_due || line::HEADER.iter().all(output::live_line)
    }
}
