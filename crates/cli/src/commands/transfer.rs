//! `stoa import` and `stoa export`.

use crate::args::{Copying, Export, Import};
use crate::daemon::Signals;
use crate::failure::{FAILED, Failure, INTERRUPTED, Outcome};
use crate::output::{self, Meter, bytes, count, plural};
use crate::store::{Place, Reached, Said, advised};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stoa_transfer::{Options, Report, Tally};

/// How often progress is shown.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Copies objects into a directory.
pub(crate) fn import(args: &Import) -> Outcome<ExitCode> {
    copy("imported", &args.source, &args.copying, async |from, options, tally| {
        // More likely mistyped than empty.
        if from.is_empty && !from.prefix.is_empty() {
            let what = format!("{}: the bucket has no object whose key begins with {:?}", args.source, from.prefix);
            return Err(
                Failure::new(what).advise("what comes after the bucket's name is a directory: check how it is spelled")
            );
        }
        let import = stoa_transfer::Import::new(from.s3, &from.prefix, &args.dir, options, tally);
        let import = import.map_err(|error| unusable(&args.dir, &error))?;
        import.run().await.map_err(|error| advised(&args.source, &error))
    })
}

/// Copies a directory into a bucket.
pub(crate) fn export(args: &Export) -> Outcome<ExitCode> {
    copy("exported", &args.target, &args.copying, async |to, options, tally| {
        let export = stoa_transfer::Export::new(&args.dir, to.s3, &to.prefix, options, tally);
        let export = export.map_err(|error| unusable(&args.dir, &error))?;
        export.run().await.map_err(|error| advised(&args.target, &error))
    })
}

fn unusable(dir: &Path, error: &std::io::Error) -> Failure {
    let failure = Failure::because(dir.display(), error);
    match error.kind() {
        std::io::ErrorKind::NotFound => failure.advise("make it first (mkdir), in a volume that is mounted"),
        _ => failure,
    }
}

fn copy(
    done: &'static str,
    url: &str,
    copying: &Copying,
    work: impl AsyncFnOnce(Reached, Options, Arc<Tally>) -> Outcome<()>,
) -> Outcome<ExitCode> {
    let place = Place::parse(url)?;
    if place.bucket().is_none() {
        return Err(
            Failure::usage(format!("{} is not on S3", place.name())).advise("write s3://BUCKET or s3://BUCKET/PREFIX")
        );
    }
    let options = Options {
        parallel: copying.parallel.into(),
        overwrite: copying.overwrite,
        dry_run: copying.dry_run,
        unverified: copying.unverified,
        customer_key: copying.reach.sse_key_file.is_some(),
    };
    let said = Said::from(&copying.reach);
    let began = Instant::now();
    let tally = Arc::new(Tally::default());
    super::leave_behind(async {
        let mut signals = Signals::listen()?;
        let objects = place.objects(&copying.reach.access, said).await?;
        watch(work(objects, options, Arc::clone(&tally)), &mut signals, &tally).await
    })?;
    let report = tally.report();
    match copying.reach.report.json {
        true => output::json(&report),
        false => print(&report, if copying.dry_run { "would be" } else { "" }, done, began.elapsed()),
    }
    Ok(ExitCode::from(code(&report)))
}

/// Waits for `work`, showing how far it is. The first ^C stops it soon, the second at once.
async fn watch(work: impl Future<Output = Outcome<()>>, signals: &mut Signals, tally: &Tally) -> Outcome<()> {
    let meter = Meter::new("looking at what is there");
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            () = signals.next() => match tally.is_stopped() {
                true => return Ok(()),
                false => tally.stop(),
            },
            () = tokio::time::sleep(LOOK_EVERY) => {
                let same = if tally.same() > 0 { format!(", {} were there", count(tally.same())) } else { String::new() };
                let text = format!("{}, {}{same}", plural(tally.files(), "file"), bytes(tally.bytes()));
                meter.show(&text, tally.files(), 0);
            }
        }
    }
}

fn code(report: &Report) -> u8 {
    if report.interrupted {
        INTERRUPTED
    } else if report.problem_count > 0 {
        FAILED
    } else {
        0
    }
}

fn print(report: &Report, would: &str, done: &str, took: Duration) {
    for problem in &report.problems {
        output::note(format_args!("stoa: {}: {}", problem.name, problem.error));
    }
    let left_out = report.problem_count - report.problems.len() as u64;
    if left_out > 0 {
        output::note(format_args!("stoa: ... and {} more", plural(left_out, "problem")));
    }
    let mut text = format!("{} {would}", plural(report.files, "file")).trim_end().to_owned();
    text += &format!(" {done}, {} in {:.1} s", bytes(report.bytes), took.as_secs_f64());
    let mut also = |count: u64, what: &str| {
        if count > 0 {
            text += &format!("; {} {what}", crate::output::count(count));
        }
    };
    also(report.same, "were there already");
    also(report.unverifiable, "have no checksum that covers them");
    also(report.attributes_left_out, "attributes could not be kept");
    also(report.problem_count, "could not be copied");
    if report.interrupted {
        text += "; interrupted: run it again to go on";
    }
    output::line(text);
}
