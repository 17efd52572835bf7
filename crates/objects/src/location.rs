//! Where objects are.

use crate::redact;
use crate::{Error, Result};
use object_store::path::Path;
use std::fmt;
use std::path::{Component, PathBuf};
use url::Url;

/// Where objects are: a bucket and a prefix in it, or a directory. Carries no secrets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Location {
    /// Amazon S3, and everything that speaks its protocol.
    S3 {
        /// The bucket.
        bucket: String,
        /// What comes before every key; empty for the whole bucket.
        prefix: Path,
    },
    /// Google Cloud Storage.
    Gcs {
        /// The bucket.
        bucket: String,
        /// What comes before every key.
        prefix: Path,
    },
    /// Azure Blob Storage; the account comes from the environment.
    Azure {
        /// The container.
        container: String,
        /// What comes before every key.
        prefix: Path,
    },
    /// A directory of this machine, by an absolute path.
    Directory(PathBuf),
    /// This process's memory, empty at every connect: for tests.
    Memory,
}

impl Location {
    /// Reads `s3://bucket[/prefix]`, `gs://bucket[/prefix]`, `az://container[/prefix]`, `file:///path`, `memory:`, or the
    /// path of a directory (a relative one is taken from the working directory). Touches neither network nor disk.
    ///
    /// # Errors
    /// [`Error::BadUrl`], which says what is wrong; a password or query in the URL is refused and not repeated.
    pub fn parse(text: &str) -> Result<Self> {
        let Some((scheme, rest)) = text.split_once(':').filter(|(scheme, _)| is_scheme(scheme)) else {
            return directory(text, text);
        };
        // `C:` is no drive here, and `host:path` no remote: both are directories only when written with a slash first.
        match scheme.to_ascii_lowercase().as_str() {
            "s3" | "s3a" => in_bucket(text, rest, |bucket, prefix| Self::S3 { bucket, prefix }),
            "gs" | "gcs" => in_bucket(text, rest, |bucket, prefix| Self::Gcs { bucket, prefix }),
            "az" | "azure" => in_bucket(text, rest, |container, prefix| Self::Azure { container, prefix }),
            "memory" if matches!(rest, "" | "//" | "///") => Ok(Self::Memory),
            "memory" => Err(bad(text, "write just memory:")),
            "file" => file_url(text),
            "http" | "https" => {
                Err(bad(text, "write s3://bucket/prefix, and give the server's address as the endpoint"))
            }
            other => {
                Err(bad(text, &format!("unknown scheme '{other}': use s3://, gs://, az://, file:// or a directory")))
            }
        }
    }

    /// What comes before every key in the bucket; empty for a directory.
    #[must_use]
    pub fn prefix(&self) -> Path {
        match self {
            Self::S3 { prefix, .. } | Self::Gcs { prefix, .. } | Self::Azure { prefix, .. } => prefix.clone(),
            Self::Directory(_) | Self::Memory => Path::default(),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, bucket, prefix) = match self {
            Self::S3 { bucket, prefix } => ("s3", bucket, prefix),
            Self::Gcs { bucket, prefix } => ("gs", bucket, prefix),
            Self::Azure { container, prefix } => ("az", container, prefix),
            Self::Directory(path) => {
                return match Url::from_file_path(path) {
                    Ok(url) => f.write_str(url.as_str()),
                    Err(()) => write!(f, "file://{}", path.display()),
                };
            }
            Self::Memory => return f.write_str("memory:"),
        };
        write!(f, "{scheme}://{bucket}")?;
        if !prefix.is_root() {
            write!(f, "/{prefix}")?;
        }
        Ok(())
    }
}

impl std::str::FromStr for Location {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// The error for `text`, of which everything that may be secret is left out.
fn bad(text: &str, reason: &str) -> Error {
    Error::BadUrl { url: redact::short(text), reason: reason.to_owned() }
}

fn in_bucket(text: &str, rest: &str, make: impl FnOnce(String, Path) -> Location) -> Result<Location> {
    let Some(rest) = rest.strip_prefix("//") else {
        return Err(bad(text, "two slashes come after the colon, as in s3://bucket/prefix"));
    };
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    // Whatever stands before an '@' or after a '?' may be a secret, so neither may go into the error.
    if bucket.contains('@') {
        return Err(bad(text, "credentials don't belong in a URL: use a profile, the environment or a role"));
    }
    if rest.contains(['?', '#']) {
        return Err(bad(text, "a location has no query ('?') and no fragment ('#'): use options"));
    }
    if bucket.is_empty() {
        return Err(bad(text, "it names no bucket"));
    }
    if !bucket.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_')) {
        return Err(bad(text, "a bucket's name has only letters, digits, '-', '.' and '_'"));
    }
    let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
    if prefix.starts_with('/') || prefix.ends_with('/') {
        return Err(bad(text, "the prefix has an empty part ('//')"));
    }
    let prefix = Path::parse(prefix)
        .map_err(|_| bad(text, "the prefix has an empty, '.' or '..' part, or a control character"))?;
    Ok(make(bucket.to_owned(), prefix))
}

fn file_url(text: &str) -> Result<Location> {
    let url = Url::parse(text).map_err(|error| bad(text, &error.to_string()))?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(bad(text, "write '?' and '#' in a file URL as %3F and %23, or give the plain path"));
    }
    let path = url.to_file_path().map_err(|()| bad(text, "three slashes come first, as in file:///srv/stoa"))?;
    directory(text, &path.to_string_lossy())
}

fn directory(text: &str, path: &str) -> Result<Location> {
    if path.is_empty() {
        return Err(bad(text, "it is empty"));
    }
    if path.contains('\0') {
        return Err(bad(text, "it has a NUL"));
    }
    let absolute = std::path::absolute(path).map_err(|error| bad(text, &error.to_string()))?;
    // Links are not followed: this touches no disk. `..` is folded as the shell's `cd` does.
    let mut clean = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    Ok(Location::Directory(clean))
}

#[cfg(test)]
mod tests;
