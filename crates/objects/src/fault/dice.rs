//! Chance that repeats itself.

use crate::Verb;
use parking_lot::Mutex;
use siphasher::sip::SipHasher13;
use std::collections::HashMap;
use std::hash::Hasher;

/// Numbers that follow from a seed, a verb, a key, and how often the two came before.
#[derive(Debug)]
pub(super) struct Dice {
    seed: u64,
    /// Grows with the keys a test uses; a plan is made for a test, not for a service.
    rolled: Mutex<HashMap<(Verb, String), u64>>,
}

/// Two independent numbers, from 0 to (not including) 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Roll {
    pub(super) first: f64,
    pub(super) second: f64,
}

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, rolled: Mutex::default() }
    }

    pub(super) fn roll(&self, verb: Verb, key: &str) -> Roll {
        let mut rolled = self.rolled.lock();
        let count = rolled.entry((verb, key.to_owned())).or_default();
        *count += 1;
        let number = |which: u64| {
            let mut hasher = SipHasher13::new_with_keys(self.seed, which);
            hasher.write(verb.name().as_bytes());
            hasher.write(key.as_bytes());
            hasher.write_u64(*count);
            // The upper 53 bits fill the mantissa of a double.
            (hasher.finish() >> 11) as f64 / (1u64 << 53) as f64
        };
        Roll { first: number(1), second: number(2) }
    }
}
