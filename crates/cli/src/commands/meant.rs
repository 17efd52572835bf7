//! Which objects a PATH means, there or deleted.

use crate::args::Reach;
use crate::control::{self, Connection, Record, Request, Wait};
use crate::failure::{Failure, Outcome};
use crate::store::{Place, Reached, Said, real};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use stoa_bucket::What;
use stoa_bucket::tree::{Spelled, directory_at, object_at};
use stoa_objects::s3::S3Bucket;
use stoa_vfs::Name;

/// Objects of a bucket.
#[derive(Debug)]
pub(super) struct Meant {
    pub(super) s3: S3Bucket,
    /// The object, and all that is below a directory of its name.
    pub(super) what: Vec<What>,
}

/// Finds out what `text` means, and connects to the bucket.
pub(super) async fn find(text: &str, reach: &Reach) -> Outcome<Meant> {
    let (bucket, what, endpoint) = match text.strip_prefix("s3://") {
        Some(rest) => {
            let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
            (bucket.to_owned(), of_key(key), None)
        }
        None => in_mount(text)?,
    };
    let mut access = reach.access.clone();
    access.endpoint = access.endpoint.or(endpoint);
    let place = Place::parse(&format!("s3://{bucket}"))?;
    let said = Said::from(reach);
    let Reached { s3, .. } = place.objects(&access, said).await?;
    Ok(Meant { s3, what })
}

fn of_key(key: &str) -> Vec<What> {
    match key.is_empty() || key.ends_with('/') {
        true => vec![What::Below(key.to_owned())],
        false => vec![What::Key(key.to_owned()), What::Below(format!("{key}/"))],
    }
}

/// The bucket, the objects that a path in a mount means, and the server.
fn in_mount(text: &str) -> Outcome<(String, Vec<What>, Option<String>)> {
    let path = absolute(text)?;
    let within = |record: &Record| path.starts_with(&record.mountpoint);
    let mut live = control::all();
    live.retain(|(record, _)| within(record));
    // Of mounts within mounts, the innermost.
    let Some((record, socket)) = live.into_iter().max_by_key(|(record, _)| record.mountpoint.len()) else {
        let what = format!("{text} is not in a mount of objects");
        return Err(Failure::new(what).advise("`stoa status` lists mounts; without one, write s3://BUCKET/KEY"));
    };
    if !record.is_own() {
        // It would say in which bucket the caller's rights are used.
        let what = format!("{text} is in a mount of user {}", record.uid);
        return Err(Failure::new(what).advise("write s3://BUCKET/KEY"));
    }
    let status = Connection::open(&record, &socket, &Request::Status, Wait::Briefly)?.result(|_, _, _| {})?;
    let of = |field: &str| Some(status.pointer(&format!("/objects/{field}"))?.as_str()?.to_owned());
    let (Some(bucket), Some(prefix)) = (of("bucket"), of("prefix")) else {
        let what = format!("{} is a volume, whose files are no objects of their own", record.mountpoint);
        return Err(Failure::new(what).advise("name a path in a mount with --objects, or s3://BUCKET/KEY"));
    };
    let no_key = || Failure::new(format!("{text}: no object has this name"));
    let names: Option<Vec<Name>> = path.strip_prefix(&record.mountpoint).ok().map(|rest| {
        rest.components().filter_map(|part| Name::new(part.as_os_str().as_bytes().to_vec()).ok()).collect()
    });
    let names = names.ok_or_else(no_key)?;
    let mut what = Vec::new();
    if names.is_empty() {
        what.push(What::Below(prefix));
    } else {
        if let Some(Spelled::Object { key, .. }) = object_at(&names) {
            what.push(What::Key(format!("{prefix}{key}")));
        }
        if let Some(Spelled::Directory(key)) = directory_at(&names) {
            what.push(What::Below(format!("{prefix}{key}")));
        }
    }
    if what.is_empty() { Err(no_key()) } else { Ok((bucket, what, record.endpoint)) }
}

/// The path with the links above it followed, as far as it is there; a link at its end is meant itself.
fn absolute(text: &str) -> Outcome<PathBuf> {
    let path = std::path::absolute(text).map_err(|error| Failure::because(text, &error))?;
    Ok(match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if path.symlink_metadata().is_ok_and(|found| found.is_symlink()) => {
            real(parent).join(name)
        }
        _ => real(Path::new(&path)),
    })
}
