//! `stoa format`.

use crate::args::Format;
use crate::failure::Outcome;
use crate::store::{Place, volume_failure};
use crate::{control, output};
use serde_json::json;
use std::time::Duration;
use stoa_volume::FormatOptions;

/// How long an outage of the store is waited out; a person waits here.
const OUTAGE_MAX: Duration = Duration::from_secs(60);

/// Makes an empty volume.
pub(crate) fn run(args: &Format) -> Outcome<()> {
    let place = Place::parse(&args.store)?;
    place.make_directory()?;
    let options = FormatOptions {
        compression_level: args.compression,
        root_uid: control::uid(),
        root_gid: control::gid(),
        ..FormatOptions::default()
    };
    let name = place.name();
    let made = super::runtime()?.block_on(async {
        let store = place.connect(&args.access).await?.patient_for(OUTAGE_MAX);
        stoa_volume::format(store, &options).await.map_err(|error| volume_failure(&name, &error))
    })?;
    if args.report.json {
        output::json(&json!({ "store": name, "volume": made }));
    } else {
        output::line(format_args!("made a volume in {name} (id {}, format {})", made.uuid, made.format_version));
        let endpoint = args.access.endpoint.as_ref().map(|url| format!("--endpoint {url} ")).unwrap_or_default();
        output::line(format_args!("  mount it  stoa mount {endpoint}{name} DIR"));
    }
    Ok(())
}
