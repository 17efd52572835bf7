//! `stoa undelete`.

use super::meant;
use crate::args::Undelete;
use crate::failure::{FAILED, Failure, Outcome};
use crate::output::{self, Meter, bytes, count, plural};
use crate::store::advised;
use serde_json::json;
use std::process::ExitCode;
use stoa_bucket::past::{Restore, Restored, check_versions};
use stoa_objects::s3::S3Bucket;
use tokio::task::JoinSet;

/// So many objects are restored at once.
const AT_ONCE: usize = 32;
/// Most keys that are listed in the report in JSON.
const LISTED_MAX: usize = 1000;

/// Restores what was deleted.
pub(crate) fn run(args: &Undelete) -> Outcome<ExitCode> {
    let mut done = Done { json: args.reach.report.json, dry_run: args.dry_run, ..Done::default() };
    let restored = super::runtime()?.block_on(async {
        for path in &args.paths {
            restore(args, path, &mut done).await?;
        }
        Ok(())
    });
    // What was done is told, too, when something failed.
    done.print();
    restored?;
    Ok(ExitCode::from(if done.failed > 0 { FAILED } else { 0 }))
}

async fn restore(args: &Undelete, path: &str, done: &mut Done) -> Outcome<()> {
    let meant = meant::find(path, &args.reach).await?;
    check_versions(&meant.s3).await.map_err(|error| advised(path, &error))?;
    let meter = Meter::new("looking for versions");
    let mut running = JoinSet::new();
    for what in &meant.what {
        let planned = Restore::plan(&meant.s3, what, args.at, async |key, restore| {
            let Some(restore) = restore else {
                done.newer(key);
                return Ok(());
            };
            meter.show("restoring", done.restored, 0);
            if args.dry_run {
                done.restored(&restore, Ok(()));
                return Ok(());
            }
            while running.len() >= AT_ONCE {
                done.join(&mut running).await;
            }
            running.spawn(one(meant.s3.clone(), restore));
            Ok(())
        });
        let planned = planned.await;
        // What was begun is told, too.
        while done.join(&mut running).await {}
        planned.map_err(|error| advised(path, &error))?;
    }
    Ok(())
}

type Tried = (Restore, stoa_objects::Result<()>);

async fn one(s3: S3Bucket, restore: Restore) -> Tried {
    let done = restore.run(&s3).await;
    (restore, done)
}

/// What came of it, so far.
#[derive(Debug, Default)]
struct Done {
    json: bool,
    dry_run: bool,
    restored: u64,
    bytes: u64,
    newer: u64,
    failed: u64,
    listed: Vec<serde_json::Value>,
    left_out: u64,
}

impl Done {
    async fn join(&mut self, running: &mut JoinSet<Tried>) -> bool {
        match running.join_next().await {
            Some(Ok((restore, tried))) => self.restored(&restore, tried),
            Some(Err(error)) => {
                self.failed += 1;
                output::failure(&Failure::of(&error), 0);
            }
            None => return false,
        }
        true
    }

    fn restored(&mut self, restore: &Restore, tried: stoa_objects::Result<()>) {
        let Restore { key, version, size, how } = restore;
        let how = match how {
            Restored::Uncovered(_) => "undeleted",
            Restored::Copied(_) => "copied",
        };
        let error = tried.err().map(|error| error.to_string());
        match &error {
            Some(error) => {
                self.failed += 1;
                output::note(format_args!("stoa: {key}: {error}"));
            }
            None => {
                self.restored += 1;
                self.bytes += size;
            }
        }
        if !self.json && error.is_none() {
            let would = if self.dry_run { "would be " } else { "" };
            output::line(format_args!("{would}{how}  {key}  ({}, version {version})", bytes(*size)));
        }
        self.list(json!({ "key": key, "how": how, "version": version, "size": size, "error": error }));
    }

    fn newer(&mut self, key: &str) {
        self.newer += 1;
        if !self.json {
            output::line(format_args!("left       {key}  (it was not there then)"));
        }
        self.list(json!({ "key": key, "how": "left" }));
    }

    fn list(&mut self, value: serde_json::Value) {
        match self.listed.len() {
            ..LISTED_MAX if self.json => self.listed.push(value),
            _ => self.left_out += 1,
        }
    }

    fn print(&self) {
        if self.json {
            return output::json(&json!({
                "restored": self.restored,
                "bytes": self.bytes,
                "newer": self.newer,
                "failed": self.failed,
                "dry_run": self.dry_run,
                "objects": self.listed,
                "objects_left_out": self.left_out,
            }));
        }
        let would = if self.dry_run { "would be " } else { "" };
        let mut text = format!("{} {would}restored, {}", plural(self.restored, "object"), bytes(self.bytes));
        if self.newer > 0 {
            text += &format!("; {} left that were not there then", count(self.newer));
        }
        if self.failed > 0 {
            text += &format!("; {} failed", count(self.failed));
        }
        output::line(text);
    }
}
