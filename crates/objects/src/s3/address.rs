//! Where a bucket is, and the URLs of what is in it.

use super::encode;

/// A bucket, and the server that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    bucket: String,
    /// Scheme, host and port, and what comes before every path; without it, Amazon's server of the region.
    server: Option<Server>,
    /// Whether the bucket stands in the path instead of in the host's name.
    path_style: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Server {
    scheme: String,
    authority: String,
    path: String,
}

impl Address {
    /// The address of `bucket` behind a checked endpoint.
    pub(super) fn new(bucket: &str, endpoint: Option<&str>, path_style: Option<bool>) -> Self {
        let server = endpoint.map(|endpoint| {
            let (scheme, rest) = endpoint.split_once("://").unwrap_or(("https", endpoint));
            let at = rest.find('/').unwrap_or(rest.len());
            let (authority, path) = rest.split_at(at);
            Server { scheme: scheme.to_owned(), authority: authority.to_owned(), path: path.to_owned() }
        });
        // Certificates cover one label before the host's name.
        let path_style = path_style.unwrap_or(server.is_some() || !is_label(bucket));
        Self { bucket: bucket.to_owned(), server, path_style }
    }

    pub(super) fn bucket(&self) -> &str {
        &self.bucket
    }

    pub(super) fn is_tls(&self) -> bool {
        self.server.as_ref().is_none_or(|server| server.scheme == "https")
    }

    /// Scheme, host and port, for messages.
    pub(super) fn endpoint(&self, region: &str) -> String {
        match &self.server {
            Some(server) => format!("{}://{}", server.scheme, server.authority),
            None => format!("https://{}", amazon(region)),
        }
    }

    /// The URL of an object, or of the bucket itself.
    pub(super) fn url(&self, region: &str, key: Option<&str>, query: &[(&str, &str)]) -> String {
        let bucket = &self.bucket;
        let mut url = match (&self.server, self.path_style) {
            (Some(Server { scheme, authority, path }), true) => format!("{scheme}://{authority}{path}/{bucket}"),
            (Some(Server { scheme, authority, path }), false) => format!("{scheme}://{bucket}.{authority}{path}"),
            (None, true) => format!("https://{}/{bucket}", amazon(region)),
            (None, false) => format!("https://{bucket}.{}", amazon(region)),
        };
        if key.is_some() || !self.path_style {
            url.push('/');
        }
        if let Some(key) = key {
            encode::key(key, &mut url);
        }
        for (n, (name, value)) in query.iter().enumerate() {
            url.push(if n == 0 { '?' } else { '&' });
            url.push_str(name);
            url.push('=');
            encode::query(value, &mut url);
        }
        url
    }
}

/// Amazon's server of a region.
fn amazon(region: &str) -> String {
    let ending = if region.starts_with("cn-") { ".cn" } else { "" };
    format!("s3.{region}.amazonaws.com{ending}")
}

/// Whether a bucket's name can stand before the host's in one label.
fn is_label(bucket: &str) -> bool {
    bucket.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

#[cfg(test)]
mod tests;
