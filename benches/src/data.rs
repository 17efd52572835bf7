//! The bytes that are written: the same for every system and every run.

use anyhow::{Context, Result, ensure};
use rand::rngs::SmallRng;
use rand::{Rng, RngCore, SeedableRng};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// The page of every kernel here, and the small unit of all rows.
pub(crate) const PAGE: usize = 4096;
/// Text repeats after so much: no compressor of independent frames looks as far back.
const TEXT_BYTES: usize = 32 << 20;
const WORDS: usize = 4096;

/// A part of [`Data::random`]. Parts with different starts on pages are different.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Slice {
    pub(crate) start: usize,
    pub(crate) len: usize,
}

/// All bytes, made when they are first asked for.
#[derive(Debug)]
pub(crate) struct Data {
    len: usize,
    random: OnceLock<Vec<u8>>,
    text: OnceLock<Vec<u8>>,
}

impl Data {
    /// Bytes for a large file of `len`.
    pub(crate) fn new(len: usize) -> Self {
        Self { len, random: OnceLock::new(), text: OnceLock::new() }
    }

    /// Size of the large file.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Incompressible bytes.
    pub(crate) fn random(&self) -> &[u8] {
        self.random.get_or_init(|| {
            let mut bytes = vec![0; self.len];
            SmallRng::seed_from_u64(1).fill_bytes(&mut bytes);
            bytes
        })
    }

    /// Text, which compresses about three to one.
    pub(crate) fn text(&self) -> &[u8] {
        self.text.get_or_init(|| text(self.len))
    }

    /// The bytes of `slice`.
    pub(crate) fn slice(&self, slice: Slice) -> Result<&[u8]> {
        self.random().get(slice.start..slice.start + slice.len).context("a slice beyond the data")
    }

    /// The content of file `number` of those that are `len` long.
    pub(crate) fn file(&self, number: usize, len: usize) -> Result<Slice> {
        ensure!(len <= self.len, "--size is too small for files of {len} bytes");
        let starts = (self.len - len) / PAGE + 1;
        // A prime number of pages apart: files of any length are told apart.
        Ok(Slice { start: number * 7919 % starts * PAGE, len })
    }

    /// `count` offsets in the large file, on pages, at random.
    pub(crate) fn offsets(&self, count: usize, seed: u64) -> Vec<usize> {
        let mut rng = SmallRng::seed_from_u64(seed);
        (0..count).map(|_| rng.random_range(0..self.len / PAGE) * PAGE).collect()
    }
}

fn text(len: usize) -> Vec<u8> {
    let mut rng = SmallRng::seed_from_u64(2);
    let words: Vec<String> = (0..WORDS)
        .map(|_| (0..rng.random_range(2..11)).map(|_| char::from(rng.random_range(b'a'..=b'z'))).collect())
        .collect();
    let mut text = Vec::with_capacity(len);
    while text.len() < len.min(TEXT_BYTES) {
        // Some words are frequent, as in any language.
        let index = rng.random_range(0..WORDS) * rng.random_range(0..WORDS) / WORDS;
        text.extend(words.get(index).into_iter().flat_map(|word| word.bytes()));
        text.push(b' ');
    }
    while text.len() < len {
        text.extend_from_within(..(len - text.len()).min(TEXT_BYTES));
    }
    text.truncate(len);
    text
}
