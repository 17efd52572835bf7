//! Syncing, and how full a store says it is. (What a crash leaves is for the stores' own tests.)

use crate::fs::{Fs, ROOT, WRITE, name, pattern, refused};
use bytes::Bytes;

pub async fn everything_can_be_synced(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    let file = fs.file_with(dir, "file", b"content").await;
    let link = fs.symlink(dir, "link", "file").await;
    for ino in [ROOT, dir, file, link] {
        fs.fsync(ino).await.unwrap();
        fs.fsync(ino).await.unwrap();
    }
    fs.sync().await.unwrap();
    fs.sync().await.unwrap();
    fs.expect(file, b"content").await;
}

pub async fn closing_reports_no_error_when_there_is_none(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    let handle = fs.open(ino, WRITE).await.unwrap();
    for step in 0..10_u64 {
        fs.write(ino, handle, step, Bytes::from_static(b"x"), stoa_vfs::WriteFlags::default()).await.unwrap();
        fs.flush(ino, handle).await.unwrap();
    }
    fs.release(ino, handle).await;
    fs.expect(ino, b"xxxxxxxxxx").await;
}

pub async fn writing_goes_on_after_a_sync(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    let handle = fs.open(ino, WRITE).await.unwrap();
    let expected = pattern(1, 30 * 3_333);
    for (step, data) in expected.chunks(3_333).enumerate() {
        fs.write(ino, handle, step as u64 * 3_333, Bytes::copy_from_slice(data), stoa_vfs::WriteFlags::default())
            .await
            .unwrap();
        match step % 3 {
            0 => fs.fsync(ino).await.unwrap(),
            1 => fs.sync().await.unwrap(),
            _ => {}
        }
    }
    fs.release(ino, handle).await;
    fs.expect(ino, &expected).await;
}

pub async fn syncing_what_is_gone_is_stale(fs: Fs) {
    let ino = fs.file_with(ROOT, "a", b"content").await;
    fs.unlink(ROOT, &name("a")).await.unwrap();
    fs.fsync(ino).await.unwrap();
    fs.forget(ino, 1);
    refused(fs.fsync(ino).await, libc::ESTALE);
    fs.sync().await.unwrap();
}

pub async fn the_store_says_how_full_it_is(fs: Fs) {
    let before = fs.statfs().await.unwrap();
    assert!(before.bytes_free <= before.bytes_total && before.bytes_total > 0);
    assert!(before.inodes_used >= 1 && before.inodes_free > 0);
    for file in 0..10_u64 {
        fs.file_with(ROOT, file.to_string(), &pattern(file, 100_000)).await;
    }
    fs.sync().await.unwrap();
    let after = fs.statfs().await.unwrap();
    assert!(after.bytes_free <= before.bytes_free, "{before:?} became {after:?}");
    assert!(after.inodes_used >= before.inodes_used + 10, "{before:?} became {after:?}");
}
