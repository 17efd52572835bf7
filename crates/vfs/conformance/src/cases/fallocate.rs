//! Allocating, punching, zeroing, collapsing, inserting.

use crate::fs::{Fs, ROOT, pattern, refused};
use stoa_vfs::Allocate::{self, Collapse, Insert, PunchHole, Reserve, Zero};
use stoa_vfs::Ino;

const PAGE: usize = 4096;

/// The same file twice: with its bytes synced, and fresh.
async fn both(fs: &Fs, data: &[u8]) -> [Ino; 2] {
    let synced = fs.file_with(ROOT, "synced", data).await;
    fs.fsync(synced).await.unwrap();
    [synced, fs.file_with(ROOT, "fresh", data).await]
}

/// Asserts the content, and that it is the same once it is durable.
async fn settled(fs: &Fs, ino: Ino, expected: &[u8]) {
    fs.expect(ino, expected).await;
    fs.fsync(ino).await.unwrap();
    fs.expect(ino, expected).await;
}

pub async fn reserving_grows_with_zeros(fs: Fs) {
    for ino in both(&fs, b"content").await {
        fs.fallocate(ino, 0, 5, Reserve { keep_size: false }).await.unwrap();
        fs.expect(ino, b"content").await;
        fs.fallocate(ino, 3, 10_000, Reserve { keep_size: false }).await.unwrap();
        let mut expected = b"content".to_vec();
        expected.resize(10_003, 0);
        settled(&fs, ino, &expected).await;
    }
}

pub async fn reserving_can_keep_the_size(fs: Fs) {
    for ino in both(&fs, b"content").await {
        fs.fallocate(ino, 0, 100_000, Reserve { keep_size: true }).await.unwrap();
        settled(&fs, ino, b"content").await;
    }
}

pub async fn punching_is_zeros(fs: Fs) {
    let data = pattern(1, 200_000);
    for ino in both(&fs, &data).await {
        let mut expected = data.clone();
        for (offset, len) in [(0, 1), (4_095, 2), (10_000, 90_000), (65_536, 65_536), (199_000, 1_000)] {
            fs.fallocate(ino, offset as u64, len as u64, PunchHole).await.unwrap();
            expected[offset..offset + len].fill(0);
            fs.expect(ino, &expected).await;
        }
        settled(&fs, ino, &expected).await;
    }
}

pub async fn punching_beyond_the_end_keeps_the_size(fs: Fs) {
    for ino in both(&fs, &[7; 10_000]).await {
        fs.fallocate(ino, 5_000, 1 << 40, PunchHole).await.unwrap();
        fs.fallocate(ino, 1 << 41, 10, PunchHole).await.unwrap();
        let mut expected = vec![7; 5_000];
        expected.resize(10_000, 0);
        settled(&fs, ino, &expected).await;
        fs.set_size(ino, 20_000).await;
        expected.resize(20_000, 0);
        fs.expect(ino, &expected).await;
    }
}

pub async fn zeroing_is_zeros(fs: Fs) {
    let data = pattern(2, 100_000);
    for ino in both(&fs, &data).await {
        let mut expected = data.clone();
        fs.fallocate(ino, 1_000, 50_000, Zero { keep_size: false }).await.unwrap();
        expected[1_000..51_000].fill(0);
        fs.expect(ino, &expected).await;
        fs.fallocate(ino, 90_000, 20_000, Zero { keep_size: true }).await.unwrap();
        expected[90_000..].fill(0);
        fs.expect(ino, &expected).await;
        fs.fallocate(ino, 95_000, 20_000, Zero { keep_size: false }).await.unwrap();
        expected.resize(115_000, 0);
        settled(&fs, ino, &expected).await;
    }
}

pub async fn collapsing_moves_down(fs: Fs) {
    if !fs.can.shift_ranges {
        return;
    }
    let data = pattern(3, 40 * PAGE + 100);
    for ino in both(&fs, &data).await {
        let mut expected = data.clone();
        for (page, pages) in [(3, 2), (0, 1), (20, 10), (26, 1)] {
            fs.fallocate(ino, (page * PAGE) as u64, (pages * PAGE) as u64, Collapse).await.unwrap();
            expected.drain(page * PAGE..(page + pages) * PAGE);
            fs.expect(ino, &expected).await;
        }
        settled(&fs, ino, &expected).await;
    }
}

pub async fn inserting_moves_up(fs: Fs) {
    if !fs.can.shift_ranges {
        return;
    }
    let data = pattern(4, 10 * PAGE + 100);
    for ino in both(&fs, &data).await {
        let mut expected = data.clone();
        for (page, pages) in [(3, 2), (0, 1), (12, 30)] {
            fs.fallocate(ino, (page * PAGE) as u64, (pages * PAGE) as u64, Insert).await.unwrap();
            expected.splice(page * PAGE..page * PAGE, vec![0; pages * PAGE]);
            fs.expect(ino, &expected).await;
        }
        settled(&fs, ino, &expected).await;
    }
}

pub async fn only_whole_blocks_inside_the_file_move(fs: Fs) {
    if !fs.can.shift_ranges {
        return;
    }
    let data = pattern(5, 10 * PAGE);
    let ino = fs.file_with(ROOT, "a", &data).await;
    let page = PAGE as u64;
    let outside = [(1, page), (page, 1), (9 * page, page), (9 * page, 5 * page), (10 * page, page), (0, 10 * page)];
    for (offset, len) in outside {
        refused(fs.fallocate(ino, offset, len, Collapse).await, libc::EINVAL);
    }
    for (offset, len) in [(1, page), (page, 1), (10 * page, page), (11 * page, page)] {
        refused(fs.fallocate(ino, offset, len, Insert).await, libc::EINVAL);
    }
    fs.expect(ino, &data).await;
    refused(fs.fallocate(ino, 0, (1 << 63) - page, Insert).await, libc::EFBIG);
    fs.expect(ino, &data).await;
}

pub async fn ranges_that_make_no_sense(fs: Fs) {
    let ino = fs.file_with(ROOT, "a", b"content").await;
    let all: [Allocate; 4] =
        [Reserve { keep_size: false }, Reserve { keep_size: true }, PunchHole, Zero { keep_size: false }];
    for how in all {
        refused(fs.fallocate(ino, 0, 0, how).await, libc::EINVAL);
        refused(fs.fallocate(ino, 1, i64::MAX as u64, how).await, libc::EFBIG);
        refused(fs.fallocate(ino, u64::MAX, 2, how).await, libc::EFBIG);
    }
    fs.expect(ino, b"content").await;
}

pub async fn only_files_are_allocated(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    refused(fs.fallocate(dir, 0, 10, Reserve { keep_size: false }).await, libc::EISDIR);
}
