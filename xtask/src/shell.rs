//! Running programs.

use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The root of the workspace.
pub(crate) fn workspace() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root
}

/// Where programs are installed.
pub(crate) fn tools() -> PathBuf {
    workspace().join("target/tools")
}

/// The cargo that runs this chore, in the workspace.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace());
    cargo
}

/// Runs a program, its output shown as it comes.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    println!("$ {shown}");
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("starting {shown}"))?;
    ensure!(status.success(), "{shown}: {status}");
    Ok(())
}

/// Runs a program, its stdout shown as it comes and returned, with whether it succeeded.
pub(crate) fn watched(command: &mut Command) -> Result<(String, bool)> {
    let shown = shown(command);
    println!("$ {shown}");
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().with_context(|| format!("starting {shown}"))?;
    let mut text = String::new();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            println!("{line}");
            text.push_str(&line);
            text.push('\n');
        }
    }
    Ok((text, child.wait()?.success()))
}

/// What a program prints; `None` if it can't be run or fails.
pub(crate) fn answer(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
