//! Programs built from source into target/tools, at versions that are pinned here.

use super::fsx;
use crate::shell;
use anyhow::Result;
use std::process::Command;

/// Crates with binaries of the same name.
const CRATES: [(&str, &str); 3] = [("pjdfstest", "0.2.2"), ("fsx", fsx::VERSION), ("cargo-deny", "0.20.2")];

/// S3 servers, if there is a Go toolchain to build them with. Of the second one there are no versions that Go knows by number.
const SERVERS: [(&str, &str); 2] = [
    ("versitygw", "github.com/versity/versitygw/cmd/versitygw@v1.8.0"),
    ("minio", "github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c"),
];

/// What Stoa is measured beside, and takes long to build.
const PEERS: [(&str, &str); 1] = [("zerofs", "0.19.1")];

/// Installs what tests need.
pub(crate) fn install() -> Result<()> {
    install_crates(&CRATES)?;
    install_servers()
}

/// Installs what the bench compares with.
pub(crate) fn install_peers() -> Result<()> {
    install_crates(&PEERS)
}

fn install_crates(crates: &[(&str, &str)]) -> Result<()> {
    for &(name, version) in crates {
        let mended = name == "fsx";
        // Quick and silent when this version is there already: cargo keeps a list in the root.
        let listed = shell::tools().join(".crates.toml");
        let listed = std::fs::read_to_string(listed).unwrap_or_default();
        let from = if mended { "(path+" } else { "(registry+" };
        if listed.contains(&format!("\"{name} {version} {from}")) {
            continue;
        }
        let mut install = shell::cargo();
        install.args(["install", "--locked", "--quiet"]);
        if mended {
            install.arg("--path").arg(fsx::source()?);
        } else {
            install.args(["--version", version, name]);
        }
        shell::run(
            install
                .arg("--root")
                .arg(shell::tools())
                .arg("--target-dir")
                .arg(shell::workspace().join("target/tools-build")),
        )?;
    }
    Ok(())
}

fn install_servers() -> Result<()> {
    let bin = shell::tools().join("bin");
    let go = ["go", "/usr/local/go/bin/go"].into_iter().find(|go| shell::answer(go, &["version"]).is_some());
    for (name, package) in SERVERS {
        let program = bin.join(name);
        let Some(go) = go else {
            if !program.exists() {
                println!("no Go toolchain: the suites use the S3 server in the test process, and not {name}");
            }
            continue;
        };
        // What it was built from is in the program.
        let built = shell::answer(go, &["version", "-m", &program.to_string_lossy()]).unwrap_or_default();
        let version = package.rsplit('@').next().unwrap_or_default();
        if built
            .lines()
            .any(|line| line.trim_start().starts_with("mod") && line.split_whitespace().any(|word| word == version))
        {
            continue;
        }
        std::fs::create_dir_all(&bin)?;
        shell::run(Command::new(go).env("GOBIN", &bin).env("GOFLAGS", "-mod=mod").args(["install", package]))?;
    }
    Ok(())
}
