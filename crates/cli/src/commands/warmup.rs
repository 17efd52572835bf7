//! `stoa warmup`.

mod asked;
mod readers;
mod room;

use super::{stats, target};
use crate::args::Warmup;
use crate::control::Record;
use crate::daemon::Signals;
use crate::failure::{FAILED, Failure, INTERRUPTED, Outcome};
use crate::output::{self, Meter, bytes, plural};
use asked::Asked;
use readers::{Reading, Shared};
use room::Room;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often progress is shown and the cache is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Reads files so that they are in the cache.
pub(crate) fn run(args: &Warmup) -> Outcome<ExitCode> {
    let (mount, paths) = in_one_mount(&args.paths)?;
    super::leave_behind(warm(args, mount, paths))
}

type Live = (Record, PathBuf);

/// The mount that all of `paths` lie in, and the paths with their links followed.
fn in_one_mount(paths: &[PathBuf]) -> Outcome<(Live, Vec<PathBuf>)> {
    let mut found: Option<Live> = None;
    let mut real = Vec::new();
    for path in paths {
        let path = path.canonicalize().map_err(|error| Failure::because(path.display(), &error))?;
        let live = target::holding(&path)?;
        if let Some((other, _)) = found.as_ref().filter(|(other, _)| *other != live.0) {
            let what = format!("the paths are in two mounts, {} and {}", other.mountpoint, live.0.mountpoint);
            return Err(Failure::usage(what).advise("each mount has its own cache: warm them up one after the other"));
        }
        found = Some(live);
        real.push(path);
    }
    // The parser asks for one at least.
    found.map(|live| (live, real)).ok_or_else(|| Failure::usage("no path"))
}

async fn warm(args: &Warmup, (record, socket): Live, paths: Vec<PathBuf>) -> Outcome<ExitCode> {
    let mut signals = Signals::listen()?;
    let meter = Meter::new("looking at the files");
    let shared = Arc::new(Shared::default());
    let began = Instant::now();
    let looking = {
        let (shared, paths) = (Arc::clone(&shared), paths.clone());
        move || Asked::count(&paths, &shared)
    };
    let looking = tokio::task::spawn_blocking(looking);
    let asked = watch(looking, &mut signals, &shared, || meter.show("looking at the files", 0, 0)).await?;
    let before = stats::snapshot(&record, &socket)?;
    let room = Room::of(&before.cache);
    if asked.bytes > room.bytes_max {
        output::note(format_args!("stoa: {}", room.too_small(asked.bytes)));
    }
    shared.limit_bytes(room.read_bytes_max());
    let reading = Reading { paths, parallel: args.parallel.into(), flags: libc::O_DIRECT };
    let reading = {
        let shared = Arc::clone(&shared);
        move || reading.run(&shared)
    };
    let reading = tokio::task::spawn_blocking(reading);
    watch(reading, &mut signals, &shared, || {
        let text = format!("reading, {}/s", bytes(per_second(shared.read_bytes(), began.elapsed())));
        meter.show_bytes(&text, shared.read_bytes(), asked.bytes.max(1));
        // What a mount can't tell for a moment is told a moment later.
        if let (true, Ok(now)) = (room.on_disk, stats::snapshot(&record, &socket))
            && room.is_used_up(&before.cache, &now.cache)
        {
            shared.stop_full();
        }
    })
    .await?;
    drop(meter);
    let after = stats::snapshot(&record, &socket)?;
    if let Some(lag) = room.lag(&before.cache, &after.cache) {
        output::note(format_args!("stoa: {lag}"));
    }
    let report = Report { record: &record, asked: &asked, room: &room, shared: &shared, took: began.elapsed() };
    report.print(args.report.json);
    Ok(ExitCode::from(report.code()))
}

/// Waits for `work`, calling `look` now and then. The first ^C stops it soon; the second at once, as it may wait for a store that is away.
async fn watch<T>(
    work: tokio::task::JoinHandle<T>,
    signals: &mut Signals,
    shared: &Shared,
    mut look: impl FnMut(),
) -> Outcome<T> {
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done.map_err(|error| Failure::of(&error)),
            () = signals.next() => match shared.is_interrupted() {
                true => return Err(Failure::new("interrupted").code_is(INTERRUPTED)),
                false => shared.interrupt(),
            },
            () = tokio::time::sleep(LOOK_EVERY) => look(),
        }
    }
}

fn per_second(bytes: u64, time: Duration) -> u64 {
    let nanos = time.as_nanos().max(1);
    u64::try_from(u128::from(bytes) * 1_000_000_000 / nanos).unwrap_or(u64::MAX)
}

/// What came of it.
#[derive(Debug)]
struct Report<'a> {
    record: &'a Record,
    asked: &'a Asked,
    room: &'a Room,
    shared: &'a Shared,
    took: Duration,
}

impl Report<'_> {
    fn code(&self) -> u8 {
        if self.shared.is_interrupted() {
            INTERRUPTED
        } else if self.shared.errors().count > 0 {
            FAILED
        } else {
            0
        }
    }

    fn stopped(&self) -> Option<&'static str> {
        if self.shared.is_interrupted() {
            Some("interrupted")
        } else if self.shared.is_full() {
            Some("the cache is full")
        } else {
            None
        }
    }

    fn print(&self, json: bool) {
        if self.shared.is_full() {
            output::note(format_args!("stoa: stopped: {}", self.room.full()));
        }
        if json {
            return output::json(&self.json());
        }
        let errors = self.shared.errors();
        for (path, error) in &errors.listed {
            output::note(format_args!("stoa: {}: {error}", path.display()));
        }
        if errors.left_out() > 0 {
            output::note(format_args!("stoa: ... and {} more", plural(errors.left_out(), "error")));
        }
        output::line(self.text());
    }

    fn text(&self) -> String {
        let read = self.shared.read_bytes();
        let verb = if self.stopped().is_some() { "partly warm" } else { "warm" };
        format!(
            "{verb}: {} of {} in {}, {} in {:.1} s, {}/s",
            plural(self.shared.files(), "file"),
            crate::output::count(self.asked.files),
            self.record.mountpoint,
            bytes(read),
            self.took.as_secs_f64(),
            bytes(per_second(read, self.took))
        )
    }

    fn json(&self) -> Value {
        let errors = self.shared.errors();
        let one = |(path, error): &(PathBuf, String)| json!({ "path": path.to_string_lossy(), "error": error });
        json!({
            "mountpoint": self.record.mountpoint,
            "files_asked": self.asked.files,
            "bytes_asked": self.asked.bytes,
            "files": self.shared.files(),
            "bytes": self.shared.read_bytes(),
            "seconds": self.took.as_secs_f64(),
            "bytes_per_second": per_second(self.shared.read_bytes(), self.took),
            "stopped": self.stopped(),
            "cache": { "on_disk": self.room.on_disk, "bytes_max": self.room.bytes_max },
            "errors": errors.listed.iter().map(one).collect::<Vec<_>>(),
            "errors_left_out": errors.left_out(),
        })
    }
}

/// Notes an error of a path, unless the path went away meanwhile, as temporary files do.
fn note(shared: &Shared, path: &Path, error: &std::io::Error) {
    if error.kind() != std::io::ErrorKind::NotFound {
        shared.failed(path, error);
    }
}
