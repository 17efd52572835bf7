//! How to reach an object store: one group of flags that every command shares.

use clap::builder::{BoolishValueParser, FalseyValueParser};
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// How to reach an object store.
///
/// There is no flag for a key or a token, on purpose: the command line of a process is readable by every user.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Object store access (credentials come from the standard places, never from flags)")]
pub(crate) struct Access {
    /// Address of the S3 server, if it is not Amazon's [or AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL]
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url, env = "STOA_ENDPOINT", hide_env_values = true)]
    pub(crate) endpoint: Option<String>,
    /// Region of the bucket [or AWS_REGION, or the profile's]
    #[arg(long, value_name = "NAME", env = "STOA_REGION", hide_env_values = true)]
    pub(crate) region: Option<String>,
    /// Put the bucket into the path of URLs rather than the host name [default: yes if there is an endpoint]
    #[arg(long, value_name = "yes|no", num_args = 0..=1, require_equals = true, default_missing_value = "yes",
        value_parser = BoolishValueParser::new(), env = "STOA_PATH_STYLE", hide_env_values = true)]
    pub(crate) path_style: Option<bool>,
    /// Trust the certificate authorities in this PEM file too [or AWS_CA_BUNDLE]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, env = "STOA_CA_FILE", hide_env_values = true)]
    pub(crate) ca_file: Option<PathBuf>,
    /// Profile of ~/.aws/config and ~/.aws/credentials [or AWS_PROFILE]
    #[arg(long, value_name = "NAME", env = "STOA_PROFILE", hide_env_values = true)]
    pub(crate) profile: Option<String>,
    /// Send requests without credentials, for public buckets
    #[arg(long, value_parser = FalseyValueParser::new(), env = "STOA_ANONYMOUS", hide_env_values = true)]
    pub(crate) anonymous: bool,
    /// Send uploads without a checksum for the server to verify; only for servers that refuse it
    #[arg(long, value_parser = FalseyValueParser::new(), env = "STOA_NO_CHECKSUM", hide_env_values = true)]
    pub(crate) no_checksum: bool,
}

impl Access {
    /// The file with the certificate authorities to trust, also where Amazon's own tools are told of it.
    pub(crate) fn ca_file(&self) -> Option<PathBuf> {
        let theirs = || std::env::var_os("AWS_CA_BUNDLE").filter(|file| !file.is_empty()).map(PathBuf::from);
        self.ca_file.clone().or_else(theirs)
    }
}
