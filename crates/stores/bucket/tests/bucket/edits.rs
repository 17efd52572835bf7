//! Edits in place: what is changed is sent, and what is not stays where it is.

use crate::world::{World, Writer, patient};
use crate::writes::{MIB, pattern, write_all};
use proptest::prelude::*;
use stoa_bucket::Options;
use stoa_objects::Verb;
use stoa_objects::testing::S3Fault;
use stoa_vfs::{Allocate, Error, SetAttr, Vfs};

fn size(size: usize) -> SetAttr {
    SetAttr { size: Some(size as u64), ..SetAttr::default() }
}

/// Bytes that the files have sent.
fn sent(world: &World) -> u64 {
    world.files.s3().meter().counts().bytes_out
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_object_that_is_changed_in_the_middle_is_not_sent_again() {
    let world = World::new(&Options { memory_bytes_max: 256 << 20, ..patient() }).await;
    let mut expected = pattern(1, 60 * MIB + 5);
    world.put("file", &expected).await;
    let file = world.writer(world.ino("file").await, false).await.unwrap();
    for (at, data) in [(30 * MIB, "changed"), (31 * MIB, "too"), (3, "head"), (60 * MIB + 5, "and more")] {
        file.write(at as u64, data.as_bytes()).await.unwrap();
        expected.resize(expected.len().max(at + data.len()), 0);
        expected[at..at + data.len()].copy_from_slice(data.as_bytes());
    }
    let (before, counts) = (sent(&world), world.files.s3().meter().counts());
    file.close().await.unwrap();
    let spent = world.files.s3().meter().counts().since(&counts);
    assert!(sent(&world) - before <= 17 << 20, "two cells and what is appended: {}", sent(&world) - before);
    assert!(spent.of(Verb::Part) <= 6 && spent.of(Verb::Multipart) == 2, "{spent:?}");
    assert!(world.object("file").await.unwrap() == expected);
    assert!(world.cat("file").await.unwrap() == expected);
    assert_eq!((world.server.uploads_open("bucket"), world.files.status().dirty_bytes), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_is_read_here_and_nowhere_else() {
    let world = World::new(&patient()).await;
    let old = pattern(1, 300_000);
    world.put("file", &old).await;
    let file = world.editor(world.ino("file").await).await.unwrap();
    file.write(100_000, b"changed").await.unwrap();
    file.write(400_000, b"beyond").await.unwrap();
    let mut expected = old.clone();
    expected.resize(400_006, 0);
    expected[100_000..100_007].copy_from_slice(b"changed");
    expected[400_000..].copy_from_slice(b"beyond");
    assert!(file.read(0, 1_000_000).await.unwrap() == expected, "at the writer");
    assert_eq!(file.read(99_999, 9).await.unwrap(), expected[99_999..100_008]);
    assert_eq!(file.read(400_006, 9).await.unwrap(), b"");
    assert!(world.cat("file").await.unwrap() == expected, "at another handle");
    assert!(world.object("file").await.unwrap() == old, "but not in the store");
    file.close().await.unwrap();
    assert!(world.object("file").await.unwrap() == expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_cut_and_made_longer() {
    let world = World::new(&patient()).await;
    let mut content = pattern(4, 9 * MIB);
    world.put("file", &content).await;
    let ino = world.ino("file").await;
    for len in [8 * MIB + 5, 6 * MIB, 20 * MIB + 1, 1000, 0, 5] {
        assert_eq!(world.files.setattr(ino, &size(len)).await.unwrap().size, len as u64);
        content.resize(len, 0);
        assert!(world.object("file").await.unwrap() == content, "{len}");
        assert!(world.cat("file").await.unwrap() == content, "{len}");
    }
    assert_eq!(world.stat("file").await.unwrap().size, 5);
    assert_eq!(world.server.uploads_open("bucket"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_empty_so_far_waits_for_what_is_written() {
    let world = World::new(&patient()).await;
    world.put("file", "old").await;
    let new = world.create("new").await;
    let emptied = world.writer(world.ino("file").await, true).await.unwrap();
    // As a shell does that gives its program a copy of the descriptor.
    new.flush().await.unwrap();
    emptied.flush().await.unwrap();
    assert_eq!((world.object("new").await, world.object("file").await.unwrap()), (None, b"old".to_vec()));
    new.write(0, b"content").await.unwrap();
    new.flush().await.unwrap();
    assert_eq!(world.object("new").await.unwrap(), b"content");
    // What is cut is no less written than what is added.
    world.files.setattr(new.ino, &size(0)).await.unwrap();
    new.flush().await.unwrap();
    assert_eq!(world.object("new").await.unwrap(), b"");
    world.files.fsync(emptied.ino).await.unwrap();
    assert_eq!(world.object("file").await.unwrap(), b"");
    let made = world.create("made").await;
    for file in [new, emptied, made] {
        file.close().await.unwrap();
    }
    assert_eq!(world.object("made").await.unwrap(), b"", "by the last close");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ranges_are_reserved_and_made_zeros() {
    let world = World::new(&patient()).await;
    let file = world.create("file").await;
    file.write(0, b"0123456789").await.unwrap();
    let allocate = |offset, len, how| world.files.fallocate(file.ino, offset, len, how);
    allocate(0, 12, Allocate::Reserve { keep_size: false }).await.unwrap();
    allocate(0, 50, Allocate::Reserve { keep_size: true }).await.unwrap();
    allocate(2, 3, Allocate::PunchHole).await.unwrap();
    allocate(9, 9, Allocate::Zero { keep_size: true }).await.unwrap();
    assert_eq!(file.read(0, 99).await.unwrap(), b"01\0\0\x005678\0\0\0");
    allocate(8, 6, Allocate::Zero { keep_size: false }).await.unwrap();
    assert!(matches!(allocate(0, 4, Allocate::Collapse).await, Err(Error::Unsupported(_))));
    assert!(matches!(allocate(0, 4, Allocate::Insert).await, Err(Error::Unsupported(_))));
    file.close().await.unwrap();
    assert_eq!(world.object("file").await.unwrap(), b"01\0\0\x00567\0\0\0\0\0\0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_may_come_back_to_the_head_of_a_stream() {
    let world = World::new(&patient()).await;
    let mut content = pattern(5, 45 * MIB);
    let file = world.create("file").await;
    write_all(&file, 0, &content).await;
    file.write(4, b"length").await.unwrap();
    content[4..10].copy_from_slice(b"length");
    assert_eq!((world.object("file").await, world.server.uploads_open("bucket")), (None, 1), "nothing is visible");
    file.close().await.unwrap();
    assert!(world.object("file").await.unwrap() == content);
    assert_eq!((world.server.uploads_open("bucket"), world.files.status().dirty_bytes), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_reads_and_writes_may_come_back_to_anything() {
    let world = World::new(&patient()).await;
    let mut content = pattern(6, 45 * MIB);
    let file = world.create("file").await;
    let editor = world.editor(file.ino).await.unwrap();
    write_all(&editor, 0, &content).await;
    assert!(world.files.status().dirty_bytes <= 8 << 20, "the rest is in the spill file");
    for at in [4, 20 * MIB, 33 * MIB + 7, 45 * MIB - 1] {
        editor.write(at as u64, b"!").await.unwrap();
        content[at] = b'!';
        assert_eq!(editor.read(at as u64 - 3, 4).await.unwrap(), content[at - 3..=at]);
    }
    assert!(editor.read(0, 50 * MIB).await.unwrap() == content);
    assert_eq!((world.object("file").await, world.server.uploads_open("bucket")), (None, 1), "nothing is visible");
    editor.close().await.unwrap();
    assert!(world.object("file").await.unwrap() == content);
    file.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_only_the_upload_has_is_stored_when_it_is_needed_again() {
    let world = World::new(&patient()).await;
    let mut content = pattern(7, 45 * MIB);
    let file = world.create("file").await;
    write_all(&file, 0, &content).await;
    file.write(20 * MIB as u64 + 3, b"again").await.unwrap();
    assert!(world.object("file").await.unwrap() == content, "as it was before");
    content[20 * MIB + 3..20 * MIB + 8].copy_from_slice(b"again");
    assert!(world.cat("file").await.unwrap() == content);
    world.files.setattr(file.ino, &size(30 * MIB + 1)).await.unwrap();
    content.truncate(30 * MIB + 1);
    file.write(content.len() as u64, b"end").await.unwrap();
    content.extend(b"end");
    file.close().await.unwrap();
    assert!(world.object("file").await.unwrap() == content);
    assert_eq!((world.server.uploads_open("bucket"), world.files.status().dirty_bytes), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_at_several_places_of_one_file_are_sent_while_they_are_written() {
    let world = World::new(&Options { memory_bytes_max: 1 << 30, ..patient() }).await;
    let content = pattern(8, 64 * MIB);
    let file = world.create("file").await;
    let parts = 4;
    let step = content.len() / parts;
    for at in (0..step).step_by(MIB) {
        for part in (0..parts).rev() {
            let from = part * step + at;
            file.write(from as u64, &content[from..from + MIB]).await.unwrap();
        }
    }
    assert!(world.files.s3().meter().counts().of(Verb::Part) >= 4, "parts were sent");
    file.close().await.unwrap();
    assert!(world.object("file").await.unwrap() == content);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_write_to_one_file_at_once() {
    let world = World::new(&patient()).await;
    let content = pattern(9, 24 * MIB);
    let file = world.create("file").await;
    let piece = 96 << 10;
    let writes = content.chunks(piece).enumerate().map(|(at, data)| file.write((at * piece) as u64, data));
    let syncs = (0..3).map(|_| world.files.fsync(file.ino));
    let (written, synced) =
        futures::future::join(futures::future::join_all(writes), futures::future::join_all(syncs)).await;
    assert!(written.into_iter().chain(synced).all(|done| done.is_ok()));
    file.close().await.unwrap();
    assert!(world.object("file").await.unwrap() == content);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_that_fails_leaves_the_old_object_and_no_upload() {
    for (method, target) in
        [("PUT", "partNumber=1"), ("PUT", "partNumber=2"), ("PUT", "partNumber=3"), ("POST", "uploadId")]
    {
        let world = World::new(&patient()).await;
        let content = pattern(10, 40 * MIB);
        world.put("file", &content).await;
        let ino = world.ino("file").await;
        let file = world.writer(ino, false).await.unwrap();
        file.write(10 * MIB as u64, b"changed").await.unwrap();
        world.server.faults.each(method, target, S3Fault::Status(403));
        assert_eq!(file.flush().await, Err(Error::Denied), "{target}");
        assert_eq!(file.write(0, b"more").await, Err(Error::Denied), "{target}");
        assert_eq!(file.close().await, Err(Error::Denied), "{target}");
        world.server.faults.end_each();
        assert_eq!((world.server.uploads_open("bucket"), world.files.status().dirty_bytes), (0, 0), "{target}");
        assert!(world.object("file").await.unwrap() == content, "{target}");
        assert!(world.cat("file").await.unwrap() == content, "{target}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_kept_of_an_object_that_was_replaced_meanwhile() {
    for len in [100_000, 40 * MIB] {
        let world = World::new(&patient()).await;
        world.put("file", pattern(11, len)).await;
        let file = world.writer(world.ino("file").await, false).await.unwrap();
        file.write(50_000, b"changed").await.unwrap();
        world.put("file", "of somebody else").await;
        assert_eq!(file.close().await, Err(Error::Stale), "{len}");
        assert_eq!(world.object("file").await.unwrap(), b"of somebody else");
        assert_eq!((world.server.uploads_open("bucket"), world.files.status().dirty_bytes), (0, 0));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_without_room_is_told_and_loses_nothing() {
    let full = Options { spill_dir: "/proc/self".into(), ..patient() };
    let world = World::new(&full).await;
    let content = pattern(12, 7 * MIB);
    let file = world.create("file").await;
    let editor = world.editor(file.ino).await.unwrap();
    // Eight MiB of memory, and nothing beside.
    write_all(&editor, 0, &content).await;
    let second = world.create("second").await;
    write_all(&second, 0, &content[..MIB / 2]).await;
    assert_eq!(second.write(MIB as u64 / 2, &content[..MIB]).await, Err(Error::NoSpace));
    editor.close().await.unwrap();
    assert!(world.object("file").await.unwrap() == content);
    second.close().await.unwrap();
    assert!(world.object("second").await.unwrap() == content[..MIB / 2], "what was written before");
    file.close().await.unwrap();
}

/// Steps on one file.
#[derive(Debug, Clone)]
enum Step {
    Write(usize, usize),
    Append(usize),
    Sync,
    Resize(usize),
    Zero(usize, usize),
    Reopen { truncate: bool },
    Read(usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let len = || prop::sample::select(vec![1, 1000, 70_000, MIB, 4 * MIB, 6 * MIB, 9 * MIB]);
    let per_mille = || 0..1200_usize;
    let step = prop_oneof![
        5 => (per_mille(), len()).prop_map(|(at, len)| Step::Write(at, len)),
        5 => len().prop_map(Step::Append),
        2 => Just(Step::Sync),
        2 => per_mille().prop_map(Step::Resize),
        1 => (per_mille(), len()).prop_map(|(at, len)| Step::Zero(at, len)),
        1 => any::<bool>().prop_map(|truncate| Step::Reopen { truncate }),
        2 => (per_mille(), len()).prop_map(|(at, len)| Step::Read(at, len)),
    ];
    prop::collection::vec(step, 1..14)
}

/// Writes to `expected` as a file would have it.
fn put(expected: &mut Vec<u8>, at: usize, data: &[u8]) {
    expected.resize(expected.len().max(at + data.len()), 0);
    expected[at..at + data.len()].copy_from_slice(data);
}

async fn take(world: &World, file: &mut Writer, expected: &mut Vec<u8>, seed: usize, step: Step, reads: bool) {
    let place = |per_mille: usize, expected: &Vec<u8>| (expected.len() * per_mille / 1000).min(40 * MIB);
    match step {
        Step::Write(at, len) => {
            let (at, data) = (place(at, expected), pattern(seed as u8, len));
            write_all(file, at as u64, &data).await;
            put(expected, at, &data);
        }
        Step::Append(len) => {
            let data = pattern(seed as u8, len);
            write_all(file, expected.len() as u64, &data).await;
            expected.extend(data);
        }
        Step::Sync => {
            world.files.fsync(file.ino).await.unwrap();
            assert!(world.object("file").await.unwrap() == *expected);
        }
        Step::Resize(to) => {
            let len = place(to, expected);
            world.files.setattr(file.ino, &size(len)).await.unwrap();
            expected.resize(len, 0);
        }
        Step::Zero(at, len) => {
            let at = place(at, expected);
            world.files.fallocate(file.ino, at as u64, len as u64, Allocate::Zero { keep_size: false }).await.unwrap();
            put(expected, at, &vec![0; len]);
        }
        Step::Reopen { truncate } => {
            let ino = file.ino;
            file.flush().await.unwrap();
            world.files.release(ino, file.handle).await;
            assert!(world.object("file").await.unwrap() == *expected);
            *file = if reads { world.editor(ino).await.unwrap() } else { world.writer(ino, truncate).await.unwrap() };
            if truncate && !reads {
                expected.clear();
            }
        }
        Step::Read(at, len) => {
            let at = place(at, expected);
            let there = &expected[at.min(expected.len())..(at + len).min(expected.len())];
            assert!(file.read(at as u64, len).await.unwrap() == there);
        }
    }
}

/// Requests fail, and answers get lost: what is repeated has had its effect, or has not.
fn disturb(world: &World, seed: usize) {
    let faults = [S3Fault::DropAfter, S3Fault::Status(503), S3Fault::CutBody, S3Fault::Drop];
    for (method, target) in [("PUT", "/file"), ("PUT", "partNumber"), ("GET", "/file"), ("POST", "uploadId")] {
        world.server.faults.next(method, target, faults[(seed + target.len()) % faults.len()]);
    }
    // One that was begun without anybody hearing of it stays: a rule of the bucket removes it.
    world.server.faults.next("POST", "uploads", S3Fault::Status(503));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_steps_give_the_bytes_of_a_plain_file(steps in steps(), reads in any::<bool>(), roomy in any::<bool>(), trouble in any::<bool>()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let memory_bytes_max = if roomy { 1 << 30 } else { 64 << 20 };
            let world = World::new(&Options { memory_bytes_max, ..patient() }).await;
            let mut expected = Vec::new();
            let mut file = world.create("file").await;
            if reads {
                let ino = file.ino;
                let editor = world.editor(ino).await.unwrap();
                file.close().await.unwrap();
                file = editor;
            }
            for (seed, step) in steps.into_iter().enumerate() {
                if trouble && world.server.faults.pending() == 0 {
                    disturb(&world, seed);
                }
                take(&world, &mut file, &mut expected, seed, step, reads).await;
                assert_eq!(world.files.getattr(file.ino).await.unwrap().size, expected.len() as u64);
            }
            file.close().await.unwrap();
            assert!(world.object("file").await.unwrap() == expected);
            assert_eq!((world.server.uploads_open("bucket"), world.files.status().dirty_bytes), (0, 0));
        });
    }
}
