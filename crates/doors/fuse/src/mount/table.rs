//! The table of mounts (proc_pid_mountinfo(5)).

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

#[cfg(test)]
mod tests;

/// A line of the table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// `major:minor` of its files.
    pub(super) device: String,
    /// The kind of file system.
    pub(super) kind: String,
}

/// What is mounted at `dir`, uppermost. `None` too if there is no table to read.
pub(super) fn find(dir: &Path) -> Option<Entry> {
    let table = fs::read("/proc/self/mountinfo").ok()?;
    find_in(&table, dir.as_os_str().as_bytes())
}

fn find_in(table: &[u8], dir: &[u8]) -> Option<Entry> {
    // A later line covers an earlier one.
    table.rsplit(|&byte| byte == b'\n').find_map(|line| parse(line, dir))
}

fn parse(line: &[u8], dir: &[u8]) -> Option<Entry> {
    let mut fields = line.split(|&byte| byte == b' ');
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    let device = text(fields.nth(2)?);
    if unescaped(fields.nth(1)?) != dir {
        return None;
    }
    // Optional fields end with a hyphen.
    fields.find(|&field| field == b"-")?;
    Some(Entry { device, kind: text(fields.next()?) })
}

/// Blank, tab, newline and backslash stand as a backslash and three octal digits.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match (first, code.and_then(|digits| u8::from_str_radix(digits, 8).ok())) {
            (b'\\', Some(byte)) => {
                out.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            _ => {
                out.push(first);
                rest = after;
            }
        }
    }
    out
}
