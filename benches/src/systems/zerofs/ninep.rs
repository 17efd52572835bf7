//! As much of 9P2000.L as making one file takes: that is how ZeroFS is told of a device.

use anyhow::{Result, ensure};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Files that this client knows by number: the root, and what is reached from it.
const ROOT: u32 = 0;
const FILE: u32 = 1;
const NO_FID: u32 = u32::MAX;
const NO_TAG: u16 = u16::MAX;
const TAG: u16 = 1;
const MESSAGE_BYTES_MAX: u32 = 65536;
const OPEN_READ_WRITE: u32 = 2;
const MODE: u32 = 0o600;
/// The size is what is set.
const SET_SIZE: u32 = 8;

/// Makes the sparse file `.nbd/NAME` of `size`, which ZeroFS shows as a block device.
pub(super) fn create_device(socket: &Path, name: &str, size: u64) -> Result<()> {
    let mut stream = UnixStream::connect(socket)?;
    call(&mut stream, 100, NO_TAG, &[&MESSAGE_BYTES_MAX.to_le_bytes(), &text("9P2000.L")])?;
    let (root, file) = (ROOT.to_le_bytes(), FILE.to_le_bytes());
    let user = 0_u32.to_le_bytes();
    call(&mut stream, 104, TAG, &[&root, &NO_FID.to_le_bytes(), &text("root"), &text(""), &user])?;
    call(&mut stream, 110, TAG, &[&root, &file, &1_u16.to_le_bytes(), &text(".nbd")])?;
    let create = [OPEN_READ_WRITE, MODE, 0].map(u32::to_le_bytes).concat();
    call(&mut stream, 14, TAG, &[&file, &text(name), &create])?;
    let set = [SET_SIZE, 0, 0, 0].map(u32::to_le_bytes).concat();
    call(&mut stream, 26, TAG, &[&file, &set, &size.to_le_bytes(), &[0; 32]])
}

/// Sends a request of `kind`. Its answer's kind is one more, or it failed.
fn call(stream: &mut UnixStream, kind: u8, tag: u16, parts: &[&[u8]]) -> Result<()> {
    let body = parts.concat();
    let len = u32::try_from(body.len() + 7)?;
    stream.write_all(&[&len.to_le_bytes(), [kind].as_slice(), &tag.to_le_bytes(), &body].concat())?;
    let mut len = [0; 4];
    stream.read_exact(&mut len)?;
    let mut answer = vec![0; usize::try_from(u32::from_le_bytes(len))?.saturating_sub(4)];
    stream.read_exact(&mut answer)?;
    ensure!(answer.first() == Some(&(kind + 1)), "ZeroFS refuses 9P request {kind}: {answer:?}");
    Ok(())
}

fn text(text: &str) -> Vec<u8> {
    // Names here have a few letters.
    let len = u16::try_from(text.len()).unwrap_or_default();
    [len.to_le_bytes().as_slice(), text.as_bytes()].concat()
}
