//! A log file that does not grow without end.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// When a log file has this many bytes, it becomes `NAME.1` (the former one of that name goes) and a new one begins.
const BYTES_MAX: u64 = 32 << 20;

/// A file that is appended to, readable by its owner alone.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    bytes_max: u64,
}

impl LogFile {
    /// Opens, or makes, the file at `path`.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = append(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file, bytes, bytes_max: BYTES_MAX })
    }

    fn turn(&mut self) -> io::Result<()> {
        let mut old = self.path.clone().into_os_string();
        old.push(".1");
        std::fs::rename(&self.path, old)?;
        self.file = append(&self.path)?;
        self.bytes = 0;
        Ok(())
    }
}

/// Names and objects are in a log: it is nobody else's to read, even if it was made otherwise before.
fn append(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    if file.metadata()?.is_file() {
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

impl Write for LogFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // A disk that takes no new file may still take more of the old one.
        if self.bytes >= self.bytes_max && self.turn().is_err() {
            self.bytes = 0;
        }
        let written = self.file.write(line)?;
        self.bytes = self.bytes.saturating_add(u64::try_from(written).unwrap_or(0));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests;
