//! Which crate may know which: calls run door -> vfs -> store -> objects, and nothing is imported from the left.

use crate::shell;
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use std::process::Stdio;

/// For every crate the crates of the workspace that its product code may use, and the rule behind it. A crate that is
/// missing here is an error: whoever adds one decides where it stands.
const MAY_USE: &[(&str, &[&str], &str)] = &[
    ("stoa-vfs", &[], "the waist knows neither stores nor doors, and does no IO"),
    ("stoa-conformance", &["stoa-vfs"], "the suite of every store knows only the trait"),
    ("stoa-process", &[], "whether a process runs has nothing to do with files"),
    ("stoa-objects", &[], "objects know nothing of files"),
    ("stoa-cache", &[], "the cache holds byte ranges of objects, whatever they are"),
    ("stoa-meta", &["stoa-vfs"], "the namespace knows the meaning of files, not where data is"),
    (
        "stoa-bucket",
        &["stoa-vfs", "stoa-process", "stoa-objects", "stoa-cache"],
        "a store never sees a door, nor another store",
    ),
    (
        "stoa-volume",
        &["stoa-vfs", "stoa-process", "stoa-objects", "stoa-cache", "stoa-meta"],
        "a store never sees a door",
    ),
    ("stoa-wire-fuse", &[], "a codec is bytes in, values out"),
    (
        "stoa-fuse",
        &["stoa-vfs", "stoa-process", "stoa-wire-fuse"],
        "a door never sees a store: it knows the trait and its protocol",
    ),
    (
        "stoa-transfer",
        &["stoa-vfs", "stoa-objects", "stoa-bucket"],
        "copying goes through the bucket's client and through POSIX: it sees no volume and no door",
    ),
    (
        "stoa",
        &["stoa-vfs", "stoa-process", "stoa-objects", "stoa-bucket", "stoa-volume", "stoa-fuse", "stoa-transfer"],
        "only the command sees both ends",
    ),
    ("stoa-tests", &["stoa-objects"], "the suites see the binary; of the product only the S3 server made for tests"),
    (
        "stoa-benches",
        &["stoa-objects", "stoa-tests", "stoa-fuse", "stoa-conformance"],
        "benches see the binary, and what sets its limits: the S3 client, and the door over the model",
    ),
    ("xtask", &[], "chores build when the product does not"),
];

/// A test may use these beside what its crate may.
const TESTS_MAY_USE: &[&str] = &["stoa-conformance", "stoa-objects", "stoa-vfs", "stoa-volume"];

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
    path: Option<String>,
}

/// Checks every edge between crates of the workspace.
pub(crate) fn check() -> Result<()> {
    println!("$ layering");
    let mut metadata = shell::cargo();
    metadata.args(["metadata", "--no-deps", "--format-version=1"]).stderr(Stdio::inherit());
    let output = metadata.output().context("cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata: {}", output.status);
    let violations = violations(&serde_json::from_slice(&output.stdout)?);
    if !violations.is_empty() {
        bail!("{} edges break the layering:\n  {}", violations.len(), violations.join("\n  "));
    }
    Ok(())
}

fn violations(metadata: &Metadata) -> Vec<String> {
    let mut found = Vec::new();
    for package in &metadata.packages {
        let Some((_, may_use, rule)) = MAY_USE.iter().find(|(name, ..)| *name == package.name) else {
            found.push(format!("{} has no place in the table of xtask/src/gate/layers.rs", package.name));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|dependency| dependency.path.is_some()) {
            let name = dependency.name.as_str();
            let in_tests = dependency.kind.as_deref() == Some("dev");
            let allowed = may_use.contains(&name) || (in_tests && TESTS_MAY_USE.contains(&name));
            if !allowed {
                found.push(format!("{} -> {name}: {rule}", package.name));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
