//! `stoa versions`.

use super::meant;
use crate::args::{self, shown};
use crate::failure::{Failure, Outcome};
use crate::output::{self, JsonList};
use crate::store::advised;
use futures::TryStreamExt;
use serde_json::{Value, json};
use stoa_bucket::past::check_versions;
use stoa_objects::s3::{Version, VersionKind};

/// Shows the versions of objects.
pub(crate) fn run(args: &args::Versions) -> Outcome<()> {
    super::runtime()?.block_on(list(args))
}

async fn list(args: &args::Versions) -> Outcome<()> {
    let meant = meant::find(&args.path, &args.reach).await?;
    check_versions(&meant.s3).await.map_err(|error| advised(&args.path, &error))?;
    // There may be any number of them: each is printed as it comes.
    let mut list = args.reach.report.json.then(JsonList::default);
    let mut found = false;
    for what in &meant.what {
        let mut versions = std::pin::pin!(what.versions(&meant.s3));
        while let Some(version) = versions.try_next().await.map_err(|error| advised(&args.path, &error))? {
            found = true;
            let more = match &mut list {
                Some(list) => list.push(&as_json(&version)),
                None => output::live_line(text(&version)),
            };
            if !more {
                return Ok(());
            }
        }
    }
    if let Some(list) = list {
        list.end();
    }
    if found { Ok(()) } else { Err(Failure::new(format!("there is no version of {}", args.path))) }
}

fn text(version: &Version) -> String {
    let mark = if version.latest { "current" } else { "" };
    let time = version.modified.map_or_else(|| "-".to_owned(), shown);
    let (size, etag) = match &version.kind {
        VersionKind::Object { size, etag, .. } => (output::bytes(*size), etag.as_deref().unwrap_or("-")),
        VersionKind::DeleteMarker => ("deleted".to_owned(), "-"),
    };
    format!("{time:<24}  {mark:<7}  {size:>10}  {}  {etag}  {}", version.id, version.key)
}

fn as_json(version: &Version) -> Value {
    let mut value = json!({
        "key": version.key,
        "version": version.id,
        "current": version.latest,
        "deleted": version.kind == VersionKind::DeleteMarker,
        "modified": version.modified.map(shown),
    });
    if let (VersionKind::Object { size, etag, storage_class }, Some(fields)) = (&version.kind, value.as_object_mut()) {
        fields.insert("size".into(), json!(size));
        fields.insert("etag".into(), json!(etag));
        fields.insert("storage_class".into(), json!(storage_class));
    }
    value
}
