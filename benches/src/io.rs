//! How rows write and read files: as most programs do, a MiB at a time.

use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use stoa_tests::content::same;

/// How much is written or read at a time.
const PIECE: usize = 1 << 20;

/// Writes a new file, with fsync.
pub(crate) fn write_durably(path: &Path, content: &[u8]) -> Result<()> {
    let mut file = File::create(path).with_context(|| format!("creating {}", path.display()))?;
    for piece in content.chunks(PIECE) {
        file.write_all(piece)?;
    }
    Ok(file.sync_all()?)
}

/// Reads a file to its end, and fails if it is not `len` long.
pub(crate) fn read(path: &Path, len: usize) -> Result<()> {
    let mut found = 0;
    each_piece(path, |piece| {
        found += piece.len();
        Ok(())
    })?;
    ensure!(found == len, "{}: {found} bytes, not {len}", path.display());
    Ok(())
}

/// Fails unless a file holds just `expected`.
pub(crate) fn verify(path: &Path, expected: &[u8]) -> Result<()> {
    let mut found = 0;
    each_piece(path, |piece| {
        let at = found;
        found += piece.len();
        let expected = expected.get(at..found).context("longer than what was written")?;
        same(piece, expected).with_context(|| format!("{}, from byte {at}", path.display()))
    })?;
    ensure!(found == expected.len(), "{}: {found} bytes, not {}", path.display(), expected.len());
    Ok(())
}

fn each_piece(path: &Path, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
    let mut piece = vec![0; PIECE];
    loop {
        let len = file.read(&mut piece).with_context(|| format!("reading {}", path.display()))?;
        if len == 0 {
            return Ok(());
        }
        take(piece.get(..len).unwrap_or_default())?;
    }
}
