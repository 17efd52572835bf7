//! Running other programs, with a limit on their time.

use anyhow::{Context, Result, bail, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How much of a program's output an error quotes.
const QUOTED_BYTES_MAX: usize = 6000;

/// What a program printed, and how it ended.
#[derive(Debug)]
pub struct Output {
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed to stdout.
    pub stdout: String,
    /// What it printed to stderr.
    pub stderr: String,
}

impl Output {
    /// Both streams, for a message.
    #[must_use]
    pub fn quoted(&self) -> String {
        format!("{}{}", tail(&self.stdout), tail(&self.stderr))
    }
}

/// A command without arguments and with an empty stdin.
pub fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.stdin(Stdio::null());
    command
}

/// Runs `command`, and kills it with all its children if it takes longer than `limit`.
///
/// # Errors
/// If it can't be started or takes too long; a failing status is in the result.
pub fn output(command: &mut Command, limit: Duration) -> Result<Output> {
    let shown = format!("{command:?}");
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .with_context(|| format!("starting {shown}"))?;
    let stdout = child.stdout.take().map(collect);
    let stderr = child.stderr.take().map(collect);
    let status = wait(&mut child, limit)?;
    let timed_out = status.is_none();
    if timed_out {
        kill_group(&child);
    }
    let status = child.wait()?;
    let output = Output { status, stdout: joined(stdout), stderr: joined(stderr) };
    ensure!(!timed_out, "{shown} took longer than {} s\n{}", limit.as_secs(), output.quoted());
    Ok(output)
}

/// Runs `command` and returns its stdout.
///
/// # Errors
/// As [`output`], and if it fails.
pub fn run(command: &mut Command, limit: Duration) -> Result<String> {
    let shown = format!("{command:?}");
    let output = output(command, limit)?;
    ensure!(output.status.success(), "{shown}: {}\n{}", output.status, output.quoted());
    Ok(output.stdout)
}

/// Runs a shell script in `dir`; it stops at the first command that fails.
///
/// # Errors
/// As [`run`].
pub fn shell(script: &str, dir: &Path, limit: Duration) -> Result<String> {
    run(program("bash").args(["-euo", "pipefail", "-c", script]).current_dir(dir), limit)
}

/// The end of a text that may be long.
#[must_use]
pub fn tail(text: &str) -> String {
    let mut start = text.len().saturating_sub(QUOTED_BYTES_MAX);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default().to_owned()
}

/// Says something to whoever reads the test's output.
pub fn note(text: &str) {
    // A closed stderr is no reason to fail.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Tells of a test that could not be run, which the chore says at its end.
///
/// # Errors
/// If that can't be written down.
pub fn not_run(test: &str, why: &str) -> Result<()> {
    note(&format!("{test}: {why}"));
    leave_word("STOA_SUITE_NOT_RUN", &format!("{test}: {why}"))
}

/// Leaves a line for the summary of the run, in the file that an environment variable names, if it is set.
///
/// # Errors
/// If it can't be written.
pub(crate) fn leave_word(variable: &str, line: &str) -> Result<()> {
    let Some(list) = std::env::var_os(variable) else { return Ok(()) };
    let mut list = std::fs::OpenOptions::new().create(true).append(true).open(list)?;
    // In one piece: others write too.
    Ok(list.write_all(format!("{line}\n").as_bytes())?)
}

/// Waits for `child` to end; `None` once `limit` is over.
///
/// # Errors
/// If the child can't be waited for.
pub fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    if let Some(status) = child.try_wait()? {
        return Ok(Some(status));
    }
    // Told at once, as how long programs take is measured with this.
    let ended = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let end = Instant::now() + limit;
    loop {
        let left = Timespec::try_from(end.saturating_duration_since(Instant::now()))?;
        match poll(&mut [PollFd::new(&ended, PollFlags::IN)], Some(&left)) {
            Err(Errno::INTR) => {}
            polled => {
                polled?;
                return Ok(child.try_wait()?);
            }
        }
    }
}

/// Waits until `ready` says yes.
///
/// # Errors
/// If `limit` passes first, or `ready` fails.
pub fn until(what: &str, limit: Duration, mut ready: impl FnMut() -> Result<bool>) -> Result<()> {
    let end = Instant::now() + limit;
    while !ready()? {
        if Instant::now() >= end {
            bail!("{what}: not within {} s", limit.as_secs());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn kill_group(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

fn collect(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before a failure is worth showing; the failure itself is not.
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn joined(reader: Option<JoinHandle<String>>) -> String {
    reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
}
