//! Reading and writing.

use crate::fs::{Fs, ROOT, WRITE, name, pattern, refused, same_bytes};
use bytes::Bytes;
use stoa_vfs::{OpenFlags, RenameMode};

/// Sizes around those at which stores change their ways: inline, page, frame, segment.
const EDGES: [usize; 17] = [
    1,
    2,
    511,
    512,
    2047,
    4095,
    4096,
    4097,
    8192,
    65_535,
    65_536,
    65_537,
    131_072,
    262_143,
    262_145,
    1 << 20,
    (1 << 20) + 1,
];

pub async fn an_empty_file_has_nothing(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    fs.expect(ino, b"").await;
    assert!(fs.get(ino, 0, 4096).await.is_empty());
    assert!(fs.get(ino, 1 << 40, 4096).await.is_empty());
    assert_eq!(fs.attr(ino).await.blocks, 0);
}

pub async fn sizes_around_every_edge(fs: Fs) {
    for (seed, size) in EDGES.into_iter().enumerate() {
        let data = pattern(seed as u64, size);
        let ino = fs.file_with(ROOT, size.to_string(), &data).await;
        fs.expect(ino, &data).await;
        fs.fsync(ino).await.unwrap();
        fs.expect(ino, &data).await;
    }
}

pub async fn reads_end_at_the_end(fs: Fs) {
    let data = pattern(1, 10_000);
    let ino = fs.file_with(ROOT, "a", &data).await;
    for synced in [false, true] {
        if synced {
            fs.fsync(ino).await.unwrap();
        }
        for (offset, size) in
            [(0, 0), (0, 1), (9_999, 1), (9_999, 100), (10_000, 1), (5_000, 5_000), (4_095, 2), (1, 9_000)]
        {
            let end = (offset + size).min(data.len());
            same_bytes(&fs.get(ino, offset as u64, size).await, &data[offset..end]);
        }
        assert!(fs.get(ino, u64::MAX, 10).await.is_empty());
    }
}

pub async fn a_gap_is_zeros(fs: Fs) {
    let ino = fs.file_with(ROOT, "a", b"start").await;
    fs.put(ino, 300_000, b"end").await;
    let mut expected = vec![0; 300_003];
    expected[..5].copy_from_slice(b"start");
    expected[300_000..].copy_from_slice(b"end");
    fs.expect(ino, &expected).await;
    fs.fsync(ino).await.unwrap();
    fs.expect(ino, &expected).await;
}

pub async fn overwrites_win(fs: Fs) {
    let mut expected = pattern(1, 200_000);
    let ino = fs.file_with(ROOT, "a", &expected).await;
    let overwrites = [(0, 10), (199_990, 10), (4_000, 200), (65_530, 12), (100_000, 50_000), (1, 199_998), (77, 1)];
    for (seed, (offset, size)) in overwrites.into_iter().enumerate() {
        let data = pattern(100 + seed as u64, size);
        fs.put(ino, offset as u64, &data).await;
        expected[offset..offset + size].copy_from_slice(&data);
        fs.expect(ino, &expected).await;
        if seed % 2 == 0 {
            fs.fsync(ino).await.unwrap();
            fs.expect(ino, &expected).await;
        }
    }
}

pub async fn overlapping_unaligned_writes(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    let handle = fs.open(ino, WRITE).await.unwrap();
    let mut expected = vec![0_u8; 1 << 20];
    let mut longest = 0;
    for step in 0..600_usize {
        let choice = pattern(step as u64, 8);
        let number = u32::from_le_bytes(choice[..4].try_into().unwrap()) as usize;
        let size = 1 + usize::from(u16::from_le_bytes(choice[4..6].try_into().unwrap())) % 9_000;
        let offset = number % (expected.len() - size);
        let data = pattern(1000 + step as u64, size);
        fs.write(ino, handle, offset as u64, Bytes::from(data.clone()), stoa_vfs::WriteFlags::default()).await.unwrap();
        expected[offset..offset + size].copy_from_slice(&data);
        longest = longest.max(offset + size);
        if step % 97 == 0 {
            fs.fsync(ino).await.unwrap();
        }
    }
    fs.release(ino, handle).await;
    fs.expect(ino, &expected[..longest]).await;
}

pub async fn many_small_writes_in_order(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    let handle = fs.open(ino, WRITE).await.unwrap();
    let expected = pattern(3, 5_000 * 37);
    for (step, data) in expected.chunks(37).enumerate() {
        fs.write(ino, handle, (step * 37) as u64, Bytes::copy_from_slice(data), stoa_vfs::WriteFlags::default())
            .await
            .unwrap();
    }
    fs.release(ino, handle).await;
    fs.expect(ino, &expected).await;
    fs.fsync(ino).await.unwrap();
    fs.expect(ino, &expected).await;
}

pub async fn many_small_writes_in_reverse(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    let handle = fs.open(ino, WRITE).await.unwrap();
    let expected = pattern(4, 2_000 * 41);
    for (step, data) in expected.chunks(41).enumerate().rev() {
        fs.write(ino, handle, (step * 41) as u64, Bytes::copy_from_slice(data), stoa_vfs::WriteFlags::default())
            .await
            .unwrap();
    }
    fs.release(ino, handle).await;
    fs.expect(ino, &expected).await;
}

pub async fn appends_after_every_sync(fs: Fs) {
    let ino = fs.file(ROOT, "log").await;
    let mut expected = Vec::new();
    for line in 0..100_u64 {
        let data = pattern(line, 1 + 53 * line as usize);
        fs.put(ino, expected.len() as u64, &data).await;
        expected.extend_from_slice(&data);
        if line % 5 == 0 {
            fs.fsync(ino).await.unwrap();
        }
        assert_eq!(fs.size(ino).await, expected.len() as u64);
    }
    fs.expect(ino, &expected).await;
}

pub async fn a_stream_of_64_mib(fs: Fs) {
    const CHUNK: usize = 1 << 20;
    const CHUNKS: u64 = 64;
    let ino = fs.file(ROOT, "stream").await;
    let handle = fs.open(ino, WRITE).await.unwrap();
    for chunk in 0..CHUNKS {
        let data = Bytes::from(pattern(chunk, CHUNK));
        fs.write(ino, handle, chunk * CHUNK as u64, data, stoa_vfs::WriteFlags::default()).await.unwrap();
    }
    fs.flush(ino, handle).await.unwrap();
    fs.fsync(ino).await.unwrap();
    assert_eq!(fs.size(ino).await, CHUNKS * CHUNK as u64);
    for chunk in 0..CHUNKS {
        let pieces = fs.read(ino, handle, chunk * CHUNK as u64, CHUNK).await.unwrap();
        same_bytes(&pieces.concat(), &pattern(chunk, CHUNK));
    }
    fs.release(ino, handle).await;
}

pub async fn offsets_to_the_very_end(fs: Fs) {
    const LAST: u64 = i64::MAX as u64;
    let ino = fs.file(ROOT, "a").await;
    for offset in [1 << 32, (1 << 40) + 5, 1 << 62, LAST - 1] {
        fs.put(ino, offset, b"x").await;
        assert_eq!(fs.size(ino).await, offset + 1);
        assert_eq!(fs.get(ino, offset - 2, 10).await, b"\0\0x");
    }
    fs.fsync(ino).await.unwrap();
    assert_eq!(fs.get(ino, (1 << 40) + 4, 3).await, b"\0x\0");
    assert_eq!(fs.get(ino, LAST - 1, 10).await, b"x");
    for (offset, data) in [(LAST, b"x".as_slice()), (LAST - 1, b"xx"), (u64::MAX, b"x"), (u64::MAX - 1, b"xx")] {
        refused(fs.try_put(ino, offset, data).await, libc::EFBIG);
    }
    assert_eq!(fs.size(ino).await, LAST);
    let blocks = fs.attr(ino).await.blocks;
    assert!(blocks < 1 << 20, "{blocks} blocks for four bytes");
}

pub async fn no_bytes_change_nothing(fs: Fs) {
    let ino = fs.file_with(ROOT, "a", b"content").await;
    fs.put(ino, 100, b"").await;
    fs.expect(ino, b"content").await;
}

pub async fn handles_see_each_other(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    let writer = fs.open(ino, WRITE).await.unwrap();
    let reader = fs.open(ino, OpenFlags::default()).await.unwrap();
    assert_ne!(writer, reader);
    for step in 0..50_u64 {
        fs.write(ino, writer, step * 3, Bytes::from_static(b"abc"), stoa_vfs::WriteFlags::default()).await.unwrap();
        assert_eq!(fs.read(ino, reader, step * 3, 10).await.unwrap().concat(), b"abc");
        assert_eq!(fs.size(ino).await, step * 3 + 3);
    }
    fs.release(ino, writer).await;
    fs.release(ino, reader).await;
    fs.expect(ino, "abc".repeat(50).as_bytes()).await;
}

pub async fn a_released_handle_is_closed(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    let handle = fs.open(ino, WRITE).await.unwrap();
    fs.release(ino, handle).await;
    refused(fs.read(ino, handle, 0, 1).await, libc::EBADF);
    refused(fs.write(ino, handle, 0, Bytes::from_static(b"x"), stoa_vfs::WriteFlags::default()).await, libc::EBADF);
    fs.expect(ino, b"").await;
}

pub async fn opening_can_truncate(fs: Fs) {
    let ino = fs.file_with(ROOT, "a", &pattern(1, 100_000)).await;
    fs.fsync(ino).await.unwrap();
    let handle = fs.open(ino, OpenFlags { write: true, truncate: true, ..OpenFlags::default() }).await.unwrap();
    fs.expect(ino, b"").await;
    fs.write(ino, handle, 5, Bytes::from_static(b"new"), stoa_vfs::WriteFlags::default()).await.unwrap();
    fs.release(ino, handle).await;
    fs.expect(ino, b"\0\0\0\0\0new").await;
}

pub async fn only_regular_files_are_opened(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    refused(fs.open(dir, OpenFlags::default()).await, libc::EISDIR);
    refused(fs.open(ROOT, WRITE).await, libc::EISDIR);
    let link = fs.symlink(ROOT, "link", "x").await;
    assert!(fs.open(link, OpenFlags::default()).await.is_err());
}

pub async fn content_moves_with_the_name(fs: Fs) {
    let data = pattern(9, 300_000);
    let dir = fs.dir(ROOT, "dir").await;
    let ino = fs.file(ROOT, "a").await;
    let handle = fs.open(ino, WRITE).await.unwrap();
    fs.write(ino, handle, 0, Bytes::copy_from_slice(&data[..150_000]), stoa_vfs::WriteFlags::default()).await.unwrap();
    fs.rename(ROOT, &name("a"), dir, &name("b"), RenameMode::Replace).await.unwrap();
    fs.write(ino, handle, 150_000, Bytes::copy_from_slice(&data[150_000..]), stoa_vfs::WriteFlags::default())
        .await
        .unwrap();
    fs.release(ino, handle).await;
    fs.sync().await.unwrap();
    fs.expect(fs.find(dir, "b").await.unwrap(), &data).await;
}

pub async fn many_small_files(fs: Fs) {
    const FILES: u64 = 1_000;
    let dir = fs.dir(ROOT, "dir").await;
    for file in 0..FILES {
        fs.file_with(dir, file.to_string(), &pattern(file, file as usize * 7)).await;
    }
    fs.sync().await.unwrap();
    for file in 0..FILES {
        let ino = fs.find(dir, file.to_string()).await.unwrap();
        fs.expect(ino, &pattern(file, file as usize * 7)).await;
    }
}

pub async fn blocks_count_what_is_written(fs: Fs) {
    let ino = fs.file_with(ROOT, "a", &pattern(1, 1 << 20)).await;
    fs.fsync(ino).await.unwrap();
    let blocks = fs.attr(ino).await.blocks;
    assert!(blocks > 0, "no blocks for a MiB");
    fs.set_size(ino, 1 << 40).await;
    assert!(fs.attr(ino).await.blocks <= blocks + 256, "a hole takes space");
}
