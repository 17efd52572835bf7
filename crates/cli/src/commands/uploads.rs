//! `stoa uploads`.

use super::meant;
use crate::args::{self, shown};
use crate::failure::{FAILED, Outcome};
use crate::output::{self, JsonList, plural};
use crate::store::advised;
use futures::{TryStreamExt, future};
use serde_json::json;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};
use stoa_objects::s3::{S3Bucket, Upload};

/// So many are given up at once.
const AT_ONCE: usize = 32;
/// How old an upload is, at least, that is given up without a word about ages: most programs are done by then.
const ABANDONED_AFTER: Duration = Duration::from_secs(24 * 3600);

/// Shows uploads that were not completed, or gives them up.
pub(crate) fn run(args: &args::Uploads) -> Outcome<ExitCode> {
    let told = super::runtime()?.block_on(work(args))?;
    let code = if told.failed > 0 { FAILED } else { 0 };
    told.end(args);
    Ok(ExitCode::from(code))
}

async fn work(args: &args::Uploads) -> Outcome<Told> {
    let meant = meant::find(&args.path, &args.reach).await?;
    let before = begun_before(args, SystemTime::now());
    let mut told = Told { list: args.reach.report.json.then(JsonList::default), ..Told::default() };
    for what in &meant.what {
        let uploads = what.uploads(&meant.s3).try_filter(|upload| future::ready(is_older(upload, before)));
        let ended = uploads.map_ok(|upload| end(&meant.s3, upload, args.abort)).try_buffered(AT_ONCE);
        let mut ended = std::pin::pin!(ended);
        while let Some(one) = ended.try_next().await.map_err(|error| advised(&args.path, &error))? {
            // What is given up is given up, whether anybody reads of it or not.
            if !told.one(&one) && !args.abort {
                return Ok(told);
            }
        }
    }
    Ok(told)
}

/// The time before which uploads were begun that are meant; `None` for all.
fn begun_before(args: &args::Uploads, now: SystemTime) -> Option<SystemTime> {
    let age = args.older_than.unwrap_or(if args.abort { ABANDONED_AFTER } else { Duration::ZERO });
    (!age.is_zero()).then(|| now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH))
}

/// Whether an upload was begun before a time: not if the server does not say when.
fn is_older(upload: &Upload, before: Option<SystemTime>) -> bool {
    before.is_none_or(|before| upload.begun.is_some_and(|begun| begun < before))
}

/// One upload, and what came of giving it up if that was wanted.
struct Seen {
    upload: Upload,
    ended: Option<stoa_objects::Result<()>>,
}

async fn end(s3: &S3Bucket, upload: Upload, abort: bool) -> stoa_objects::Result<Seen> {
    let ended = if abort { Some(s3.abort_upload(&upload).await) } else { None };
    Ok(Seen { upload, ended })
}

/// What was told.
#[derive(Debug, Default)]
struct Told {
    uploads: u64,
    failed: u64,
    list: Option<JsonList>,
}

impl Told {
    /// Prints one as it comes, as there may be any number; says whether anybody reads on.
    fn one(&mut self, seen: &Seen) -> bool {
        let Seen { upload, ended } = seen;
        let error = ended.as_ref().and_then(|ended| ended.as_ref().err()).map(ToString::to_string);
        let begun = upload.begun.map(shown);
        self.uploads += 1;
        self.failed += u64::from(error.is_some());
        if let Some(list) = &mut self.list {
            let aborted = matches!(ended, Some(Ok(())));
            return list.push(
                &json!({ "key": upload.key, "id": upload.id, "begun": begun, "aborted": aborted, "error": error }),
            );
        }
        if let Some(error) = error {
            output::note(format_args!("stoa: {}: {error}", upload.key));
        }
        output::live_line(format_args!("{:<24}  {}  {}", begun.as_deref().unwrap_or("-"), upload.id, upload.key))
    }

    fn end(self, args: &args::Uploads) {
        match self.list {
            Some(list) => list.end(),
            None if args.abort => {
                let failed = if self.failed > 0 { format!("; {} could not be", self.failed) } else { String::new() };
                output::line(format_args!("{} given up{failed}", plural(self.uploads - self.failed, "upload")));
            }
            None => output::line(format_args!("{} not completed", plural(self.uploads, "upload"))),
        }
    }
}

#[cfg(test)]
mod tests;
