//! From what was typed as STORE to an object store.

use crate::args::{Access, Reach};
use crate::failure::{Failure, Outcome, USAGE};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stoa_objects::s3::{CustomerKey, S3Bucket};
use stoa_objects::{ConnectOptions, Connected, Location, RetryPolicy};

/// How long a command waits for a store that does not answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// What requests about objects say beside what they ask for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Said<'a> {
    /// That the requester pays.
    pub(crate) requester_pays: bool,
    /// The key in this file (SSE-C).
    pub(crate) sse_key_file: Option<&'a Path>,
}

impl<'a> From<&'a Reach> for Said<'a> {
    fn from(reach: &'a Reach) -> Self {
        Self { requester_pays: reach.requester_pays, sse_key_file: reach.sse_key_file.as_deref() }
    }
}

/// Objects that answered.
#[derive(Debug)]
pub(crate) struct Reached {
    /// Their bucket.
    pub(crate) s3: S3Bucket,
    /// What their keys begin with: nothing, or something that ends with a slash.
    pub(crate) prefix: String,
    /// Whether there is none.
    pub(crate) is_empty: bool,
}

/// A place where a volume is or can be. Independent of the working directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    location: Location,
}

impl Place {
    /// Reads `text`. A directory is made absolute, and its links are followed as far as it exists.
    pub(crate) fn parse(text: &str) -> Outcome<Self> {
        let location = Location::parse(text).map_err(|error| Failure::of(&error).code_is(USAGE))?;
        Ok(Self { location: resolved(location) })
    }

    /// How it is written, for people and for the record of a mount: a URL, or a plain path.
    pub(crate) fn name(&self) -> String {
        match &self.location {
            Location::Directory(path) => path.display().to_string(),
            other => other.to_string(),
        }
    }

    /// The local directory, if it is one.
    pub(crate) fn directory(&self) -> Option<&Path> {
        match &self.location {
            Location::Directory(path) => Some(path),
            _ => None,
        }
    }

    /// The bucket, and what comes before its keys, if it is on S3.
    pub(crate) fn bucket(&self) -> Option<(&str, String)> {
        match &self.location {
            Location::S3 { bucket, prefix } if prefix.is_root() => Some((bucket, String::new())),
            Location::S3 { bucket, prefix } => Some((bucket, format!("{prefix}/"))),
            _ => None,
        }
    }

    /// Connects to the objects in it by their exact keys.
    pub(crate) async fn objects(&self, access: &Access, said: Said<'_>) -> Outcome<Reached> {
        let name = self.name();
        let (bucket, prefix) = self.bucket().ok_or_else(|| Failure::usage(format!("{name} is not on S3")))?;
        let customer_key = said.sse_key_file.map(CustomerKey::read).transpose();
        let customer_key = customer_key.map_err(|error| Failure::of(&error).code_is(USAGE))?;
        let options = ConnectOptions { requester_pays: said.requester_pays, customer_key, ..options(access) };
        // As in `connect`.
        let impatient = ConnectOptions { retry: RetryPolicy::bounded(PATIENCE), ..options.clone() };
        let failed = |error: &stoa_objects::Error| advised(&name, error);
        let first = S3Bucket::connect(bucket, &impatient).await.map_err(|error| failed(&error))?;
        let is_empty = !stoa_bucket::check(&first, &prefix).await.map_err(|error| failed(&error))?;
        let s3 = S3Bucket::connect(bucket, &options).await.map_err(|error| failed(&error))?;
        Ok(Reached { s3, prefix, is_empty })
    }

    /// Makes a local directory that is not there yet. Only its owner may enter: modes inside a volume mean nothing to someone
    /// who reads the objects behind it.
    pub(crate) fn make_directory(&self) -> Outcome<()> {
        let Some(path) = self.directory() else {
            return Ok(());
        };
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|error| Failure::because(format_args!("can't make the directory {}", path.display()), &error))
    }

    /// Connects to it.
    pub(crate) async fn connect(&self, access: &Access) -> Outcome<Connected> {
        if let Some(path) = self.directory() {
            match path.metadata() {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    let what = format!("there is no directory {}", path.display());
                    return Err(Failure::new(what).advise("`stoa format` makes it, and a volume in it"));
                }
                Err(error) => return Err(Failure::because(path.display(), &error)),
                Ok(found) if !found.is_dir() => {
                    return Err(Failure::new(format!("{} is not a directory", path.display())));
                }
                Ok(_) => {}
            }
        }
        let connected = stoa_objects::connect(&self.location, &options(access)).await;
        let connected = connected.map_err(|error| advised(&self.name(), &error))?;
        // Work on a volume waits out an outage of any length; a wrong name or key must be known before that.
        connected.check(PATIENCE).await.map_err(|error| advised(&self.name(), &error))?;
        Ok(connected)
    }
}

/// `location` with the links of a directory followed, so that one store has one name however it is reached.
fn resolved(location: Location) -> Location {
    match location {
        Location::Directory(path) => Location::Directory(real(&path)),
        other => other,
    }
}

/// `path` with the links of what exists of it followed.
pub(crate) fn real(path: &Path) -> PathBuf {
    let of = |existing: &Path| {
        let rest = path.strip_prefix(existing).ok()?;
        // Joining nothing would leave a slash at the end.
        Some(existing.canonicalize().ok()?.components().chain(rest.components()).collect())
    };
    path.ancestors().find_map(of).unwrap_or_else(|| path.to_owned())
}

fn options(access: &Access) -> ConnectOptions {
    ConnectOptions {
        endpoint: access.endpoint.clone(),
        region: access.region.clone(),
        path_style: access.path_style,
        ca_file: access.ca_file(),
        profile: access.profile.clone(),
        anonymous: access.anonymous,
        checksum: !access.no_checksum,
        ..ConnectOptions::default()
    }
}

/// The failure for `error` of the store `name`, with what the person can do.
pub(crate) fn advised(name: &str, error: &stoa_objects::Error) -> Failure {
    use stoa_objects::Error;
    let failure = Failure::because(name, error);
    match error {
        Error::NoCredentials { .. } => failure.advise(
            "set AWS_PROFILE or --profile, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run where a role gives them; --anonymous for a public bucket",
        ),
        Error::Unreachable { .. } => failure.advise("check --endpoint (STOA_ENDPOINT, AWS_ENDPOINT_URL), the network and any proxy"),
        Error::Tls { detail, .. } => failure.advise(tls_advice(detail)),
        Error::WrongRegion { .. } => failure.advise("--region NAME sets it"),
        _ => failure,
    }
}

/// What to do about a server with which TLS fails, by what the handshake said.
fn tls_advice(detail: &str) -> &'static str {
    if detail.contains("UnknownIssuer") {
        "if the server has a certificate authority of its own, --ca-file FILE (STOA_CA_FILE, AWS_CA_BUNDLE) names the PEM file with that"
    } else if detail.contains("CaUsedAsEndEntity") {
        // As `openssl req -x509` makes it, unless it is told otherwise.
        "the server's certificate is made for an authority: it needs one with basicConstraints=CA:FALSE, which may have signed itself"
    } else if detail.contains("certificate") {
        "the server needs another certificate, or --endpoint the name for which it has one"
    } else {
        "check --endpoint (STOA_ENDPOINT, AWS_ENDPOINT_URL): that of a server without TLS begins with http://"
    }
}

/// The failure for `error` of the volume in the store `name`.
pub(crate) fn volume_failure(name: &str, error: &stoa_volume::Error) -> Failure {
    use stoa_volume::Error;
    match error {
        Error::NotAVolume(_) => Failure::new(format!("there is no Stoa volume at {name}")).advise(choices(name)),
        Error::Exists(_) => Failure::new(format!("there is a Stoa volume at {name} already; it was not touched")),
        Error::NotEmpty(_) => Failure::new(format!("{name} is not empty and holds no Stoa volume"))
            .advise("choose an empty directory, or another prefix"),
        Error::Store(cause) => advised(&format!("{name} can't hold a volume"), cause),
        other => Failure::because(name, other),
    }
}

/// What can be mounted of a place that holds no volume.
fn choices(name: &str) -> &'static str {
    match name.starts_with("s3://") {
        true => {
            "there are two choices: `stoa format` makes one in an empty prefix (`stoa mount --create` makes and mounts it); `stoa mount --objects` mounts the objects that are there as they are"
        }
        false => "`stoa format` makes one; `stoa mount --create` makes and mounts one",
    }
}

#[cfg(test)]
mod tests;
