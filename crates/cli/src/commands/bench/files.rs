//! Measures files in a mount.

use crate::failure::{Failure, Outcome};
use crate::metrics::{Latency, Rate};
use rustix::fs::{Advice, fadvise};
use serde::Serialize;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How much is written and read with one call.
const CHUNK_BYTES: usize = 1 << 20;
/// How many small files are made,
const SMALL_FILES: u64 = 1000;
/// and how large they are.
const SMALL_BYTES: usize = 4 << 10;
/// How many reads at random places there are at most,
const RANDOM_READS: u64 = 2000;
/// and for how long: from a slow store, each may take a while.
const RANDOM_TIME_MAX: Duration = Duration::from_secs(10);

/// What is measured, and with whose help.
pub(super) struct Files<'a> {
    /// Below which directory.
    pub(super) dir: &'a Path,
    /// How large the large file is.
    pub(super) bytes: u64,
    /// Set when it should end early.
    pub(super) stop: &'a AtomicBool,
    /// Makes everything in the mount durable.
    pub(super) sync: &'a dyn Fn() -> Outcome<()>,
    /// What the mount has received from its store so far.
    pub(super) received_bytes: &'a dyn Fn() -> Outcome<u64>,
    /// Is told the stage, and how many of how many steps are done.
    pub(super) heard: &'a dyn Fn(&str, u64, u64),
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct FileFigures {
    /// One large file written, and fsync.
    pub(super) write_and_fsync: Rate,
    /// The same file read from its beginning to its end, without the kernel's cache.
    pub(super) read_back: Rate,
    /// How many bytes of that came from the store; the others were in the mount's cache.
    pub(super) read_back_received_bytes: u64,
    /// 4 KiB at random places of that file.
    pub(super) random_read: Latency,
    /// How many small files were made,
    pub(super) small_files: u64,
    /// how long it took to make them,
    pub(super) small_create_seconds: f64,
    /// and then until all were in the store.
    pub(super) small_sync_seconds: f64,
}

impl Files<'_> {
    /// Measures in a new directory, which is removed at the end, whatever happens. None if it was stopped.
    pub(super) fn measure(&self) -> Outcome<Option<FileFigures>> {
        let failed = |error: &std::io::Error| Failure::because(self.dir.display(), error);
        let place =
            tempfile::Builder::new().prefix(".stoa-bench-").tempdir_in(self.dir).map_err(|error| failed(&error))?;
        let measured = self.measure_in(place.path());
        (self.heard)("removing files", 0, 0);
        let shown = place.path().display().to_string();
        place.close().map_err(|error| {
            Failure::because(format_args!("can't remove {shown}"), &error).advise(format!("remove it: rm -r {shown}"))
        })?;
        measured
    }

    fn measure_in(&self, dir: &Path) -> Outcome<Option<FileFigures>> {
        let failed = |error: std::io::Error| Failure::because(dir.display(), &error);
        let path = dir.join("large");
        let Some(write_and_fsync) = self.write(&path).map_err(failed)? else { return Ok(None) };
        let before = (self.received_bytes)()?;
        let Some(read_back) = self.read(&path).map_err(failed)? else { return Ok(None) };
        let read_back_received_bytes = (self.received_bytes)()?.saturating_sub(before);
        let Some(random_read) = self.read_at_random(&path).map_err(failed)? else { return Ok(None) };
        let Some(created) = self.make_small(dir).map_err(failed)? else { return Ok(None) };
        (self.heard)("making small files durable", 0, 0);
        let began = Instant::now();
        (self.sync)()?;
        Ok(Some(FileFigures {
            write_and_fsync,
            read_back,
            read_back_received_bytes,
            random_read,
            small_files: SMALL_FILES,
            small_create_seconds: created.as_secs_f64(),
            small_sync_seconds: began.elapsed().as_secs_f64(),
        }))
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn write(&self, path: &Path) -> std::io::Result<Option<Rate>> {
        let mut noise = Noise::new();
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut file = File::create_new(path)?;
        let (mut written, mut took) = (0, Duration::ZERO);
        while written < self.bytes {
            if self.is_stopped() {
                return Ok(None);
            }
            (self.heard)("writing, MiB", written >> 20, self.bytes >> 20);
            let len = usize::try_from(self.bytes - written).unwrap_or(usize::MAX).min(CHUNK_BYTES);
            let Some(part) = chunk.get_mut(..len) else { break };
            // Not compressible, and not counted.
            noise.fill(part);
            let began = Instant::now();
            file.write_all(part)?;
            took += began.elapsed();
            written += len as u64;
        }
        (self.heard)("fsync", 0, 0);
        let began = Instant::now();
        file.sync_all()?;
        Ok(Some(Rate::new(written, took + began.elapsed())))
    }

    fn read(&self, path: &Path) -> std::io::Result<Option<Rate>> {
        let mut file = File::open(path)?;
        // So that the mount is asked, and not the kernel's cache.
        fadvise(&file, 0, None, Advice::DontNeed)?;
        let mut chunk = vec![0; CHUNK_BYTES];
        let (mut read, began) = (0, Instant::now());
        loop {
            if self.is_stopped() {
                return Ok(None);
            }
            (self.heard)("reading back, MiB", read >> 20, self.bytes >> 20);
            match file.read(&mut chunk)? {
                0 => return Ok(Some(Rate::new(read, began.elapsed()))),
                count => read += count as u64,
            }
        }
    }

    fn read_at_random(&self, path: &Path) -> std::io::Result<Option<Latency>> {
        let file = File::open(path)?;
        fadvise(&file, 0, None, Advice::DontNeed)?;
        fadvise(&file, 0, None, Advice::Random)?;
        let mut noise = Noise::new();
        let mut piece = vec![0; SMALL_BYTES];
        let pieces = (self.bytes / SMALL_BYTES as u64).max(1);
        let (mut times, began) = (Vec::new(), Instant::now());
        for number in 0..RANDOM_READS {
            if self.is_stopped() {
                return Ok(None);
            }
            if began.elapsed() > RANDOM_TIME_MAX {
                break;
            }
            (self.heard)("random reads", number, RANDOM_READS);
            let offset = noise.next() % pieces * SMALL_BYTES as u64;
            let one = Instant::now();
            file.read_at(&mut piece, offset)?;
            times.push(one.elapsed());
        }
        times.sort_unstable();
        Ok(Some(Latency::of(&times)))
    }

    fn make_small(&self, dir: &Path) -> std::io::Result<Option<Duration>> {
        let dir = dir.join("small");
        fs::create_dir(&dir)?;
        let mut content = vec![0; SMALL_BYTES];
        Noise::new().fill(&mut content);
        let began = Instant::now();
        for number in 0..SMALL_FILES {
            if self.is_stopped() {
                return Ok(None);
            }
            (self.heard)("small files", number, SMALL_FILES);
            fs::write(dir.join(number.to_string()), &content)?;
        }
        Ok(Some(began.elapsed()))
    }
}

/// Bytes that don't compress, made faster than anything stores them (xorshift64).
struct Noise(u64);

impl Noise {
    fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        for eight in bytes.chunks_mut(8) {
            let next = self.next().to_le_bytes();
            eight.iter_mut().zip(next).for_each(|(byte, noise)| *byte = noise);
        }
    }
}

#[cfg(test)]
mod tests;
