//! What an answer of SEEK_DATA and SEEK_HOLE must agree with. Stores differ in how fine their holes are, so the answers of
//! two can't be compared; each is held against the bytes.

use stoa_vfs::{Error, Handle, Ino, Result, Seek, Vfs};

/// Asks, and panics if the answer hides bytes that are not zero, or is out of range.
pub(super) async fn checked_seek(vfs: &dyn Vfs, ino: Ino, handle: Handle, offset: u64, what: Seek) -> Result<()> {
    let size = vfs.getattr(ino).await?.size;
    let answer = vfs.seek(ino, offset, what).await;
    match (what, answer) {
        (_, Ok(found)) if found < offset || found > size => panic!("{what:?} from {offset} of {size} gave {found}"),
        (Seek::Data, Ok(found)) => {
            assert!(found < size, "data at {found}, the end");
            expect_zeros(vfs, ino, handle, offset, found).await
        }
        (Seek::Data, Err(Error::NoOffset)) if offset < size => expect_zeros(vfs, ino, handle, offset, size).await,
        (Seek::Hole, Ok(found)) => expect_zeros(vfs, ino, handle, found, size.min(found + 1)).await,
        (_, Err(error)) => Err(error),
    }
}

async fn expect_zeros(vfs: &dyn Vfs, ino: Ino, handle: Handle, start: u64, end: u64) -> Result<()> {
    const CHUNK: u64 = 1 << 20;
    let mut at = start;
    while at < end {
        let size = CHUNK.min(end - at);
        let bytes = vfs.read(ino, handle, at, usize::try_from(size).unwrap()).await?.concat();
        assert_eq!(bytes.len() as u64, size, "a short read inside the file");
        if let Some(position) = bytes.iter().position(|byte| *byte != 0) {
            panic!("byte {} is not zero, but is said to be in a hole", at + position as u64);
        }
        at += size;
    }
    Ok(())
}
