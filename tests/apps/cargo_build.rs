//! cargo: build a small project whose sources and target directory are on the mount, and run what came out of it there.

use anyhow::{Result, ensure};
use std::path::Path;
use stoa_tests::command::{program, run};
use stoa_tests::{Setup, StoreKind, in_place, scale};

const MODULES: u64 = 12;

#[test]
fn cargo_builds_and_rebuilds() -> Result<()> {
    in_place(Setup::new("cargo").store(StoreKind::s3()).limit(scale::minutes(5, 15)), |place| {
        let project = place.path("project");
        make_project(&project)?;
        ensure!(cargo(&project, &["run", "--quiet"])?.trim() == "66", "the program adds 0..=11");
        // A second build finds everything fresh: mtimes on the mount are trustworthy.
        let again = cargo(&project, &["build", "--message-format=json"])?;
        ensure!(
            again.contains("\"fresh\":true") && !again.contains("\"fresh\":false"),
            "rebuilt for no reason: {again}"
        );
        place.remount()?;
        let again = cargo(&project, &["build", "--message-format=json"])?;
        ensure!(!again.contains("\"fresh\":false"), "rebuilt for no reason after a remount: {again}");
        std::fs::write(project.join("src/m3.rs"), module(100))?;
        ensure!(cargo(&project, &["run", "--quiet"])?.trim() == "163", "the changed module was not compiled");
        cargo(&project, &["clean"])?;
        ensure!(!project.join("target").exists(), "cargo clean left something");
        Ok(())
    })
}

fn make_project(project: &Path) -> Result<()> {
    std::fs::create_dir_all(project.join("src"))?;
    std::fs::write(
        project.join("Cargo.toml"),
        "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
    )?;
    let mut main = String::new();
    let mut sum = String::from("0");
    for number in 0..MODULES {
        std::fs::write(project.join(format!("src/m{number}.rs")), module(number))?;
        main.push_str(&format!("mod m{number};\n"));
        sum.push_str(&format!(" + m{number}::value()"));
    }
    std::fs::write(project.join("src/main.rs"), format!("{main}fn main() {{ println!(\"{{}}\", {sum}); }}\n"))?;
    Ok(())
}

fn module(value: u64) -> String {
    format!("pub fn value() -> u64 {{ {value} }}\n")
}

fn cargo(project: &Path, args: &[&str]) -> Result<String> {
    let mut cargo = program("cargo");
    // What the cargo that runs this test sets must not leak into the one under test.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_") && name != "CARGO_HOME") {
            cargo.env_remove(name);
        }
    }
    cargo.env_remove("RUSTFLAGS").env("CARGO_TARGET_DIR", project.join("target"));
    run(cargo.args(args).arg("--offline").current_dir(project), scale::minutes(3, 5))
}
