//! Changing the size of files.

use crate::fs::{Fs, ROOT, WRITE, pattern, refused};
use bytes::Bytes;
use stoa_vfs::SetAttr;

/// A file of this content, synced or fresh: both ways of keeping bytes have their own way of cutting them.
async fn both(fs: &Fs, data: &[u8]) -> [stoa_vfs::Ino; 2] {
    let synced = fs.file_with(ROOT, format!("synced-{}", data.len()), data).await;
    fs.fsync(synced).await.unwrap();
    [synced, fs.file_with(ROOT, format!("fresh-{}", data.len()), data).await]
}

pub async fn what_is_cut_stays_cut(fs: Fs) {
    let data = pattern(1, 300_000);
    for ino in both(&fs, &data).await {
        for size in [299_999, 262_144, 200_001, 4_096, 4_095, 1, 0] {
            fs.set_size(ino, size as u64).await;
            fs.expect(ino, &data[..size]).await;
            fs.set_size(ino, size as u64 + 70_000).await;
            let mut expected = data[..size].to_vec();
            expected.resize(size + 70_000, 0);
            fs.expect(ino, &expected).await;
            fs.set_size(ino, size as u64).await;
        }
    }
}

pub async fn what_is_cut_stays_cut_over_syncs(fs: Fs) {
    let data = pattern(2, 100_000);
    let ino = fs.file_with(ROOT, "a", &data).await;
    for size in [70_000_usize, 5_000, 100] {
        fs.fsync(ino).await.unwrap();
        fs.set_size(ino, size as u64).await;
        fs.fsync(ino).await.unwrap();
        fs.set_size(ino, 150_000).await;
        fs.fsync(ino).await.unwrap();
        let mut expected = data[..size].to_vec();
        expected.resize(150_000, 0);
        fs.expect(ino, &expected).await;
    }
}

pub async fn writing_beyond_a_cut_leaves_zeros_between(fs: Fs) {
    for ino in both(&fs, &pattern(3, 100_000)).await {
        fs.set_size(ino, 10).await;
        fs.put(ino, 50_000, b"end").await;
        let mut expected = pattern(3, 10);
        expected.resize(50_000, 0);
        expected.extend_from_slice(b"end");
        fs.expect(ino, &expected).await;
        fs.fsync(ino).await.unwrap();
        fs.expect(ino, &expected).await;
    }
}

pub async fn growing_is_zeros(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    for size in [1_usize, 4_096, 5_000, 1 << 20] {
        fs.set_size(ino, size as u64).await;
        fs.expect(ino, &vec![0; size]).await;
    }
}

pub async fn to_the_same_size_changes_no_bytes(fs: Fs) {
    let data = pattern(4, 12_345);
    for ino in both(&fs, &data).await {
        fs.set_size(ino, 12_345).await;
        fs.expect(ino, &data).await;
    }
}

pub async fn cut_to_nothing_and_written_again(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    for version in 0..20_u64 {
        let data = pattern(version, 100_000 - 4_000 * version as usize);
        fs.set_size(ino, 0).await;
        fs.put(ino, 0, &data).await;
        fs.expect(ino, &data).await;
        if version % 3 == 0 {
            fs.fsync(ino).await.unwrap();
            fs.expect(ino, &data).await;
        }
    }
}

pub async fn an_open_file_can_be_cut(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    let handle = fs.open(ino, WRITE).await.unwrap();
    fs.write(ino, handle, 0, Bytes::from(pattern(5, 50_000)), stoa_vfs::WriteFlags::default()).await.unwrap();
    fs.set_size(ino, 20_000).await;
    assert_eq!(fs.read(ino, handle, 19_999, 10).await.unwrap().concat(), &pattern(5, 20_000)[19_999..]);
    fs.write(ino, handle, 20_000, Bytes::from_static(b"more"), stoa_vfs::WriteFlags::default()).await.unwrap();
    fs.release(ino, handle).await;
    let mut expected = pattern(5, 20_000);
    expected.extend_from_slice(b"more");
    fs.expect(ino, &expected).await;
}

pub async fn huge_sizes(fs: Fs) {
    let ino = fs.file_with(ROOT, "a", b"start").await;
    for size in [1 << 32, 1 << 62, i64::MAX as u64] {
        fs.set_size(ino, size).await;
        assert_eq!(fs.get(ino, size - 3, 100).await, [0; 3]);
        assert_eq!(fs.get(ino, 0, 7).await, b"start\0\0");
    }
    for size in [1 << 63, u64::MAX] {
        let set = SetAttr { size: Some(size), ..SetAttr::default() };
        refused(fs.setattr(ino, &set).await, libc::EFBIG);
    }
    assert_eq!(fs.size(ino).await, i64::MAX as u64);
    fs.set_size(ino, 3).await;
    fs.expect(ino, b"sta").await;
}

pub async fn only_files_have_a_size_to_set(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    let link = fs.symlink(ROOT, "link", "x").await;
    let set = SetAttr { size: Some(0), ..SetAttr::default() };
    refused(fs.setattr(dir, &set).await, libc::EISDIR);
    refused(fs.setattr(link, &set).await, libc::EINVAL);
}
