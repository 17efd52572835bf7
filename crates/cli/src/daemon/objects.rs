//! Objects as files: what was typed about them, and opening them.

use super::Plan;
use crate::args;
use crate::control;
use crate::failure::{Failure, Outcome};
use crate::store::{Place, Reached, Said};
use std::sync::Arc;
use stoa_bucket::{Attributes, Bucket, Options};
use stoa_objects::s3::{Encryption, Storage};

/// How objects are to be shown as files.
#[derive(Debug, Clone)]
pub(crate) struct Objects {
    typed: args::Objects,
}

impl Objects {
    /// What was typed, if objects in `place` are to be mounted.
    pub(super) fn new(typed: args::Objects, place: &Place) -> Outcome<Option<Self>> {
        if !typed.objects {
            return Ok(None);
        }
        if place.bucket().is_none() {
            let what = format!("--objects mounts the objects of an S3 bucket, and {} is none", place.name());
            return Err(Failure::usage(what).advise("write s3://BUCKET or s3://BUCKET/PREFIX"));
        }
        // With the key alone, what is written would not be encrypted with it.
        if (typed.sse == Some(Encryption::Customer)) != typed.sse_key_file.is_some() {
            let what = "a key of your own takes both --sse c and --sse-key-file FILE";
            return Err(Failure::usage(what.to_owned()).advise("`openssl rand -base64 32` makes a key"));
        }
        let sse_key_file = typed.sse_key_file.as_deref().map(super::plan::absolute).transpose()?;
        Ok(Some(Self { typed: args::Objects { sse_key_file, ..typed } }))
    }

    /// Whether they are shown as they were once, which can't be changed.
    pub(super) fn are_past(&self) -> bool {
        self.typed.at.is_some()
    }

    /// Connects to the bucket and finds out whether it answers, and whether there is nothing to show.
    pub(super) async fn open(&self, plan: &Plan) -> Outcome<(Arc<Bucket>, bool)> {
        let Self { typed } = self;
        let said = Said { requester_pays: typed.requester_pays, sse_key_file: typed.sse_key_file.as_deref() };
        let Reached { s3, prefix, is_empty } = plan.place.objects(&plan.access, said).await?;
        if self.are_past() {
            let checked = stoa_bucket::past::check_versions(&s3).await;
            checked.map_err(|error| Failure::because(plan.place.name(), &error))?;
        }
        let mut options = Options { read_only: plan.read_only(), ..self.options(plan.memory_bytes_max()) };
        options.host = crate::owner::hostname()?;
        if let Some((dir, bytes_max)) = plan.cache_dir() {
            (options.cache_dir, options.cache_bytes_max) = (Some(dir.to_owned()), bytes_max);
            options.spill_dir = dir.to_owned();
        }
        // It looks at the disk.
        let opened = tokio::task::spawn_blocking(move || Bucket::open(s3, &prefix, &options)).await;
        let opened = opened.map_err(|error| Failure::of(&error))?;
        let bucket = opened.map_err(|error| Failure::because(plan.place.name(), &error))?;
        let resumed = bucket.resume().await;
        resumed.map_err(|error| Failure::because("a rename that was interrupted can't go on", &error))?;
        Ok((bucket, is_empty && !self.are_past()))
    }

    fn options(&self, memory_bytes_max: u64) -> Options {
        let Self { typed } = self;
        Options {
            at: typed.at,
            ttl: typed.ttl,
            attributes: match typed.attributes {
                args::AttributesFrom::Listing => Attributes::Listing,
                args::AttributesFrom::Objects => Attributes::Objects,
            },
            uid: typed.uid.unwrap_or_else(control::uid),
            gid: typed.gid.unwrap_or_else(control::gid),
            file_mode: typed.file_mode,
            dir_mode: typed.dir_mode,
            storage: Storage { class: typed.storage_class.clone(), encryption: typed.sse.clone() },
            memory_bytes_max,
            ..Options::default()
        }
    }
}
