//! Programs that people run: git, Cargo, SQLite.

use super::{Row, Scenario, row};
use crate::session::Session;
use anyhow::{Result, ensure};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;
use stoa_tests::command::{program, run, shell};
use stoa_tests::tree;

const GIT_ROWS: &[Row] =
    &[row("git-clone", "`git clone` of 2,000 files + sync"), row("git-status", "`git status` in that clone, cold")];
const CARGO_ROWS: &[Row] = &[row("cargo", "`cargo build` of a small crate + sync")];
const SQLITE_ROWS: &[Row] = &[
    row("sqlite", "SQLite, 1,000 transactions, synchronous=FULL"),
    row("sqlite-wal", "SQLite, 1,000 transactions, synchronous=FULL, WAL"),
];

pub(super) const GIT: Scenario = Scenario { name: "git", rows: GIT_ROWS, run: git, raw: None };
pub(super) const CARGO: Scenario = Scenario { name: "cargo", rows: CARGO_ROWS, run: cargo, raw: None };
pub(super) const SQLITE: Scenario = Scenario { name: "sqlite", rows: SQLITE_ROWS, run: sqlite, raw: None };

/// Rows have limits of their own, which end the programs' mounts.
const LIMIT: Duration = Duration::from_secs(24 * 3600);
const GIT_FILES: u64 = 2000;
const MODULES: u64 = 12;
const TRANSACTIONS: usize = 1000;

/// Only what the script says counts, not the machine's configuration.
const GIT_IDENTITY: &str = "
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@example.org
";

fn git(session: &mut Session<'_, '_>) -> Result<()> {
    let origin = session.recorder.scratch.join("origin");
    tree::plant(&origin, GIT_FILES, 6)?;
    let in_dir = |script: &str, dir: &Path| shell(&format!("{GIT_IDENTITY}{script}"), dir, LIMIT);
    in_dir("git init --quiet --initial-branch=main . && git add --all && git commit --quiet -m all", &origin)?;
    let clone = format!("git clone --quiet --no-local 'file://{}' clone", origin.display());
    let (cloned, ()) = session.timed(|place| {
        in_dir(&clone, place.dir())?;
        place.make_durable()
    })?;
    let (status, changes) = session.timed_cold(|place| in_dir("git -C clone status --porcelain", place.dir()))?;
    in_dir("git -C clone fsck --full --strict", session.place.dir())?;
    shell(&format!("diff -rq --no-dereference --exclude .git {} clone", origin.display()), session.place.dir(), LIMIT)?;
    session.recorder.record("git-clone", cloned)?;
    ensure!(changes.is_empty(), "git status: {changes}");
    session.recorder.record("git-status", status)
}

fn cargo(session: &mut Session<'_, '_>) -> Result<()> {
    let project = session.place.path("project");
    make_project(&project)?;
    let (built, ()) = session.timed(|place| {
        let mut cargo = program("cargo");
        // What the cargo that runs this bench sets must not leak into the one that is measured.
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("CARGO_") && name != "CARGO_HOME") {
                cargo.env_remove(name);
            }
        }
        cargo.env_remove("RUSTFLAGS").env("CARGO_TARGET_DIR", project.join("target"));
        run(cargo.args(["build", "--quiet", "--offline"]).current_dir(&project), LIMIT)?;
        place.make_durable()
    })?;
    session.place.cool()?;
    let answer = run(&mut program(project.join("target/debug/tiny")), LIMIT)?;
    ensure!(answer.trim() == "66", "the program adds 0..=11, not {answer}");
    session.recorder.record("cargo", built)
}

fn make_project(project: &Path) -> Result<()> {
    fs::create_dir_all(project.join("src"))?;
    let manifest = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    fs::write(project.join("Cargo.toml"), manifest)?;
    let (mut modules, mut sum) = (String::new(), String::from("0"));
    for number in 0..MODULES {
        fs::write(project.join(format!("src/m{number}.rs")), format!("pub fn value() -> u64 {{ {number} }}\n"))?;
        writeln!(modules, "mod m{number};")?;
        write!(sum, " + m{number}::value()")?;
    }
    Ok(fs::write(project.join("src/main.rs"), format!("{modules}fn main() {{ println!(\"{{}}\", {sum}); }}\n"))?)
}

fn sqlite(session: &mut Session<'_, '_>) -> Result<()> {
    for (row, journal) in [("sqlite", "DELETE"), ("sqlite-wal", "WAL")] {
        if !session.recorder.wants(&[row]) {
            continue;
        }
        let database = session.place.path(format!("{row}.db"));
        let ask = |script: &str| run(program("sqlite3").arg("-bail").arg(&database).arg(script), LIMIT);
        let mode = ask(&format!("PRAGMA journal_mode={journal}; CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB);"))?;
        ensure!(mode.trim().eq_ignore_ascii_case(journal), "SQLite can't have the journal {journal} here: {mode}");
        let mut script = String::from("PRAGMA synchronous=FULL;");
        for id in 0..TRANSACTIONS {
            write!(script, "INSERT INTO t VALUES ({id}, randomblob(700));")?;
        }
        let (figure, ()) = session.timed(|place| {
            ask(&script)?;
            place.finish_fsync()
        })?;
        session.place.cool()?;
        let found = ask("PRAGMA integrity_check; SELECT count(*) FROM t WHERE length(body) = 700;")?;
        ensure!(found.trim() == format!("ok\n{TRANSACTIONS}"), "SQLite finds {found}");
        session.recorder.record(row, figure)?;
    }
    Ok(())
}
