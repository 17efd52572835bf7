//! Packages of the distribution.

use crate::shell;
use anyhow::{Context, Result, ensure};
use std::process::Command;

/// Package, and why.
const PACKAGES: [(&str, &str); 19] = [
    ("fuse3", "fusermount3, for mounts of users"),
    ("libacl1-dev", "pjdfstest links to it"),
    ("acl", "setfacl and getfacl"),
    ("attr", "setfattr"),
    ("fio", "a suite"),
    ("rsync", "a suite"),
    ("sqlite3", "a suite"),
    ("git", "a suite"),
    ("tar", "a suite"),
    ("curl", "tests set policies of buckets with it"),
    ("pkg-config", "builds of C libraries"),
    ("gcc", "the linker, and builds of C libraries"),
    ("make", "builds of C libraries"),
    ("util-linux", "mount, setpriv, unshare"),
    ("mount", "mount and umount"),
    ("procps", "pgrep"),
    ("passwd", "useradd, for a user of pjdfstest"),
    ("s3fs", "writes objects that the suite of buckets reads, and a peer of the bench"),
    ("rclone", "the same"),
];

/// What only the bench needs: what Stoa is measured beside.
const PEERS: [(&str, &str); 2] =
    [("libnbd-bin", "nbdfuse, to mount ZeroFS"), ("e2fsprogs", "mkfs.ext4, to mount ZeroFS")];

/// Installs what tests need.
pub(crate) fn install() -> Result<()> {
    install_missing(&PACKAGES)
}

/// Installs what the bench compares with.
pub(crate) fn install_peers() -> Result<()> {
    install_missing(&PEERS)
}

fn install_missing(packages: &[(&str, &str)]) -> Result<()> {
    let missing: Vec<&str> = packages.iter().map(|(name, _)| *name).filter(|name| !installed(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.join(" ");
    ensure!(
        shell::answer("apt-get", &["--version"]).is_some(),
        "these Debian packages, or what they are called here, are missing: {list}"
    );
    ensure!(
        shell::answer("id", &["-u"]).as_deref() == Some("0"),
        "packages are missing; run: sudo apt-get install --no-install-recommends {list}"
    );
    shell::run(Command::new("apt-get").args(["update", "--quiet=2"]))?;
    let mut install = Command::new("apt-get");
    install.env("DEBIAN_FRONTEND", "noninteractive").args(["install", "--yes", "--quiet=2", "--no-install-recommends"]);
    shell::run(install.args(missing)).with_context(|| reasons(packages, &list))
}

fn installed(package: &str) -> bool {
    shell::answer("dpkg-query", &["--show", "--showformat=${db:Status-Status}", package]).as_deref()
        == Some("installed")
}

fn reasons(packages: &[(&str, &str)], list: &str) -> String {
    let wanted = packages.iter().filter(|(name, _)| list.contains(name));
    wanted.map(|(name, why)| format!("{name}: {why}")).collect::<Vec<_>>().join("; ")
}
