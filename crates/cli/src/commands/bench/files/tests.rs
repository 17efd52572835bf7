use super::*;
use std::cell::Cell;

fn measured(stop_at: Option<&str>, sync: &dyn Fn() -> Outcome<()>) -> (Outcome<Option<FileFigures>>, usize) {
    let dir = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(false);
    let heard = |stage: &str, _, _| {
        if stop_at == Some(stage) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let files = Files { dir: dir.path(), bytes: 3 << 20, stop: &stop, sync, received_bytes: &|| Ok(7), heard: &heard };
    let measured = files.measure();
    (measured, fs::read_dir(dir.path()).unwrap().count())
}

#[test]
fn everything_is_measured_and_nothing_is_left() {
    let synced = Cell::new(0);
    let sync = || {
        synced.set(synced.get() + 1);
        Ok(())
    };
    let (figures, left) = measured(None, &sync);
    let figures = figures.unwrap().unwrap();
    assert_eq!((figures.write_and_fsync.bytes, figures.read_back.bytes, left, synced.get()), (3 << 20, 3 << 20, 0, 1));
    assert_eq!((figures.small_files, figures.read_back_received_bytes), (SMALL_FILES, 0));
    assert!(figures.random_read.count > 0 && figures.small_create_seconds > 0.0);
}

#[test]
fn stopped_or_failed_it_leaves_nothing() {
    for stage in ["writing, MiB", "reading back, MiB", "random reads", "small files"] {
        let (figures, left) = measured(Some(stage), &|| Ok(()));
        assert_eq!((figures.unwrap(), left), (None, 0), "{stage}");
    }
    let (figures, left) = measured(None, &|| Err(Failure::new("the store is away")));
    assert_eq!((figures.unwrap_err().what(), left), ("the store is away", 0));
}

#[test]
fn noise_is_no_pattern() {
    let mut bytes = vec![0; 1 << 16];
    Noise::new().fill(&mut bytes);
    let mut counts = [0; 256];
    bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    assert!(counts.iter().all(|count| (150..400).contains(count)), "{counts:?}");
}
