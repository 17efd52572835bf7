//! The certificate of a server of the tests, of an authority that nobody but the tests knows.

use anyhow::Result;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose};
use std::path::{Path, PathBuf};

/// What a server at 127.0.0.1 needs for TLS, as files with the names that `MinIO` looks for.
#[derive(Debug)]
pub(super) struct Certificates {
    dir: PathBuf,
}

impl Certificates {
    /// Makes an authority, and has it certify a server, in the new directory `dir`. The key of the authority is kept nowhere.
    pub(super) fn make(dir: &Path) -> Result<Self> {
        let authority = CertifiedIssuer::self_signed(authority()?, KeyPair::generate()?)?;
        let key = KeyPair::generate()?;
        let server = CertificateParams::new(["127.0.0.1".to_owned()])?.signed_by(&key, &authority)?;
        let made = Self { dir: dir.to_owned() };
        std::fs::create_dir(dir)?;
        std::fs::write(made.authority(), authority.pem())?;
        std::fs::write(dir.join("public.crt"), server.pem())?;
        std::fs::write(dir.join("private.key"), key.serialize_pem())?;
        Ok(made)
    }

    /// Where the server finds its certificate and its key.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The file that a client has to trust.
    pub(super) fn authority(&self) -> PathBuf {
        self.dir.join("authority.pem")
    }
}

/// What the certificate of the authority says.
fn authority() -> Result<CertificateParams> {
    let mut params = CertificateParams::new([])?;
    params.distinguished_name.push(DnType::CommonName, "Stoa tests");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    Ok(params)
}
