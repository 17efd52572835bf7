//! SQLite with a write-ahead log and `synchronous=FULL`: the mount is killed under a writer, and every row whose commit was
//! acknowledged is there afterwards.

use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use stoa_tests::command::{self, program, run};
use stoa_tests::{Setup, StoreKind, in_place, scale};

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn sqlite_keeps_acknowledged_commits_over_kill() -> Result<()> {
    in_place(Setup::new("sqlite").store(StoreKind::s3()).limit(scale::minutes(5, 20)), |place| {
        let database = place.path("data.db");
        sqlite(&database, "PRAGMA journal_mode=WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB);")?;
        let mut acknowledged = 0;
        for round in 1..=scale::pick(3, 10) {
            let writer = Writer::start(&database, acknowledged)?;
            let wanted = acknowledged + scale::pick(40, 400) * round;
            command::until("the writer commits", LIMIT, || Ok(writer.acknowledged() >= wanted))?;
            if place.is_volume() {
                place.kill()?;
                acknowledged = writer.stop()?;
                place.mount(&[])?;
            } else {
                acknowledged = writer.stop()?;
            }
            check(&database, acknowledged)?;
            // A commit that was not acknowledged may be there too; the next writer goes on after it.
            acknowledged = count(&database)?;
        }
        Ok(())
    })
}

fn check(database: &Path, acknowledged: u64) -> Result<()> {
    let integrity = sqlite(database, "PRAGMA integrity_check;")?;
    ensure!(integrity.trim() == "ok", "integrity_check: {integrity}");
    let missing = sqlite(
        database,
        &format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {acknowledged}) \
             SELECT count(*) FROM n LEFT JOIN t ON id = i WHERE id IS NULL OR length(body) <> 700;"
        ),
    )?;
    ensure!(missing.trim() == "0", "{} of {acknowledged} acknowledged rows are missing or torn", missing.trim());
    Ok(())
}

fn count(database: &Path) -> Result<u64> {
    Ok(sqlite(database, "SELECT count(*) FROM t;")?.trim().parse()?)
}

fn sqlite(database: &Path, script: &str) -> Result<String> {
    run(program("sqlite3").args(["-batch", "-bail"]).arg(database).arg(script), LIMIT)
}

/// A `sqlite3` that commits one row after the other and prints the number of each when its commit has returned.
struct Writer {
    process: Child,
    acknowledged: Arc<AtomicU64>,
    reader: JoinHandle<()>,
}

impl Writer {
    fn start(database: &Path, after: u64) -> Result<Self> {
        let mut process = Command::new("sqlite3")
            .args(["-batch", "-bail"])
            .arg(database)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut stdin = process.stdin.take().context("no stdin")?;
        let stdout = process.stdout.take().context("no stdout")?;
        let acknowledged = Arc::new(AtomicU64::new(after));
        let seen = Arc::clone(&acknowledged);
        std::thread::spawn(move || {
            let _ = writeln!(stdin, "PRAGMA synchronous=FULL;");
            // Ends when the process does: the pipe breaks.
            for id in after + 1.. {
                if writeln!(stdin, "INSERT INTO t VALUES ({id}, randomblob(700)); SELECT {id};").is_err() {
                    break;
                }
            }
        });
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if let Ok(id) = line.parse() {
                    seen.store(id, Ordering::SeqCst);
                }
            }
        });
        Ok(Self { process, acknowledged, reader })
    }

    fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::SeqCst)
    }

    /// Kills it, and returns the last row whose commit it acknowledged, whatever was in the pipe included.
    fn stop(mut self) -> Result<u64> {
        self.process.kill()?;
        self.process.wait()?;
        ensure!(self.reader.join().is_ok(), "the reader of acknowledgements failed");
        Ok(self.acknowledged.load(Ordering::SeqCst))
    }
}
