//! Copying ranges between and inside files.

use crate::fs::{Fs, ROOT, pattern, refused};

pub async fn a_whole_file(fs: Fs) {
    for (step, size) in [1, 4_096, 70_001, 3 << 20].into_iter().enumerate() {
        let data = pattern(step as u64, size);
        let source = fs.file_with(ROOT, format!("source-{size}"), &data).await;
        let target = fs.file(ROOT, format!("target-{size}")).await;
        assert_eq!(fs.copy_range(source, 0, target, 0, size as u64).await, Ok(size as u64));
        fs.expect(target, &data).await;
        fs.fsync(target).await.unwrap();
        fs.expect(target, &data).await;
        fs.expect(source, &data).await;
    }
}

pub async fn copies_part_ways(fs: Fs) {
    let data = pattern(1, 200_000);
    let source = fs.file_with(ROOT, "source", &data).await;
    fs.fsync(source).await.unwrap();
    let target = fs.file(ROOT, "target").await;
    fs.copy_range(source, 0, target, 0, 200_000).await.unwrap();
    fs.put(source, 100, b"changed").await;
    fs.expect(target, &data).await;
    fs.set_size(source, 10).await;
    fs.expect(target, &data).await;
    fs.put(target, 5, b"other").await;
    fs.expect(source, &data[..10]).await;
    fs.unlink(ROOT, &crate::fs::name("source")).await.unwrap();
    fs.forget(source, 1);
    fs.sync().await.unwrap();
    let mut expected = data;
    expected[5..10].copy_from_slice(b"other");
    fs.expect(target, &expected).await;
}

pub async fn over_other_bytes_at_any_offset(fs: Fs) {
    let data = pattern(2, 300_000);
    let source = fs.file_with(ROOT, "source", &data).await;
    let mut expected = pattern(3, 250_000);
    let target = fs.file_with(ROOT, "target", &expected).await;
    for (from, to, len) in [(0, 7, 10), (12_345, 54_321, 100_000), (200_001, 4_095, 65_537), (299_999, 0, 1)] {
        assert_eq!(fs.copy_range(source, from as u64, target, to as u64, len as u64).await, Ok(len as u64));
        expected[to..to + len].copy_from_slice(&data[from..from + len]);
        fs.expect(target, &expected).await;
    }
}

pub async fn ends_with_the_source(fs: Fs) {
    let source = fs.file_with(ROOT, "source", b"0123456789").await;
    let target = fs.file(ROOT, "target").await;
    assert_eq!(fs.copy_range(source, 4, target, 1, 1 << 40).await, Ok(6));
    fs.expect(target, b"\x00456789").await;
    assert_eq!(fs.copy_range(source, 10, target, 0, 5).await, Ok(0));
    assert_eq!(fs.copy_range(source, 1 << 50, target, 0, 5).await, Ok(0));
    assert_eq!(fs.copy_range(source, 0, target, 100, 0).await, Ok(0));
    fs.expect(target, b"\x00456789").await;
}

pub async fn inside_one_file(fs: Fs) {
    let mut expected = pattern(4, 100_000);
    let ino = fs.file_with(ROOT, "a", &expected).await;
    assert_eq!(fs.copy_range(ino, 0, ino, 50_000, 50_000).await, Ok(50_000));
    expected.copy_within(..50_000, 50_000);
    fs.expect(ino, &expected).await;
    assert_eq!(fs.copy_range(ino, 90_000, ino, 100_000, 10_000).await, Ok(10_000));
    expected.extend_from_within(90_000..);
    fs.expect(ino, &expected).await;
    for (from, to, len) in [(0, 0, 10), (0, 9, 10), (9, 0, 10)] {
        refused(fs.copy_range(ino, from, ino, to, len).await, libc::EINVAL);
    }
    fs.expect(ino, &expected).await;
}

pub async fn holes_are_copied_as_zeros(fs: Fs) {
    let source = fs.file(ROOT, "source").await;
    fs.put(source, 500_000, b"data").await;
    fs.set_size(source, 1_000_000).await;
    let target = fs.file_with(ROOT, "target", &pattern(5, 1_000_000)).await;
    assert_eq!(fs.copy_range(source, 0, target, 0, 1_000_000).await, Ok(1_000_000));
    let mut expected = vec![0; 1_000_000];
    expected[500_000..500_004].copy_from_slice(b"data");
    fs.expect(target, &expected).await;
}

pub async fn a_huge_hole_costs_nothing(fs: Fs) {
    let source = fs.file_with(ROOT, "source", b"start").await;
    fs.set_size(source, 1 << 50).await;
    let target = fs.file(ROOT, "target").await;
    assert_eq!(fs.copy_range(source, 0, target, 0, 1 << 50).await, Ok(1 << 50));
    assert_eq!(fs.size(target).await, 1 << 50);
    assert_eq!(fs.get(target, 0, 7).await, b"start\0\0");
}

pub async fn beyond_the_largest_file(fs: Fs) {
    let source = fs.file_with(ROOT, "source", b"0123456789").await;
    let target = fs.file(ROOT, "target").await;
    refused(fs.copy_range(source, 0, target, i64::MAX as u64 - 5, 10).await, libc::EFBIG);
    fs.expect(target, b"").await;
}

pub async fn only_files_are_copied(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    let file = fs.file_with(ROOT, "file", b"content").await;
    refused(fs.copy_range(dir, 0, file, 0, 1).await, libc::EISDIR);
    refused(fs.copy_range(file, 0, dir, 0, 1).await, libc::EISDIR);
}
