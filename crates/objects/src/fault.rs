//! A store that fails on purpose: by chance, by script, in outages, and by being killed.

mod body;
mod dice;
mod store;
mod upload;

use crate::Verb;
use dice::Dice;
use object_store::ObjectStore;
use object_store::path::Path;
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// What a fault does to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Injection {
    /// It fails as an overloaded server does; nothing has happened.
    FailBefore,
    /// It takes effect, and then fails as a lost answer does. A read just fails.
    FailAfter,
    /// It takes effect, and is answered with success and an error in the body, as S3 may do for copies and completes; the
    /// client reports that as an error. With [`Injection::OkWithError`] nothing has taken effect.
    OkWithErrorAfter,
    /// It takes no effect, and is answered with success and an error in the body.
    OkWithError,
    /// The body of a read ends half-way, with an error.
    Cut,
    /// The body of a read ends half-way, as if it were complete.
    CutSilently,
    /// One bit of the body of a read is wrong.
    Flip,
    /// It waits this long first.
    Delay(Duration),
    /// It never answers, and takes no effect.
    Hang,
    /// It is refused, as by a store that denies the right to it; nothing has happened.
    Refuse,
}

/// How likely each fault is for a request, from 0 to 1. At most one befalls a request; delays come on top.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Odds {
    /// Of [`Injection::FailBefore`].
    pub fail_before: f64,
    /// Of [`Injection::FailAfter`].
    pub fail_after: f64,
    /// Of [`Injection::OkWithError`], for writes.
    pub ok_with_error: f64,
    /// Of [`Injection::Cut`], for reads.
    pub cut: f64,
    /// Of [`Injection::CutSilently`], for reads.
    pub cut_silently: f64,
    /// Of [`Injection::Flip`], for reads.
    pub flip: f64,
    /// Every request waits between nothing and this long.
    pub delay_max: Duration,
}

/// How many faults have been injected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FaultCounts {
    /// Requests that failed without effect, outages included.
    pub before: u64,
    /// Requests that took effect and failed.
    pub after: u64,
    /// Bodies that were cut.
    pub cut: u64,
    /// Bodies with a wrong bit.
    pub flipped: u64,
}

/// What faults a store has, live: clones share it, and a test changes it while the store is in use.
///
/// What befalls a request follows from the seed, its verb, its key, and how many requests with the same verb and key came
/// before it, so that it does not depend on how requests of different keys interleave.
#[derive(Debug, Clone)]
pub struct FaultPlan {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    dice: Dice,
    state: Mutex<State>,
    life: watch::Sender<Life>,
}

#[derive(Debug, Default)]
struct State {
    everywhere: Odds,
    odds: HashMap<Verb, Odds>,
    script: VecDeque<Scripted>,
    each: Vec<Scripted>,
    counts: FaultCounts,
    outage: bool,
}

#[derive(Debug)]
struct Scripted {
    verb: Verb,
    part_of_key: String,
    injection: Injection,
}

impl Scripted {
    fn meets(&self, verb: Verb, key: &Path) -> bool {
        self.verb == verb && key.as_ref().contains(&self.part_of_key)
    }
}

/// Whether the store still takes requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Alive,
    Killed { hang: bool },
}

/// The source of every error of a killed store, by which the retry layer knows to give up.
#[derive(Debug, thiserror::Error)]
#[error("the store was killed")]
pub(crate) struct Killed;

impl FaultPlan {
    /// No faults yet; `seed` decides those that come by chance.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let shared = Shared { dice: Dice::new(seed), state: Mutex::default(), life: watch::Sender::new(Life::Alive) };
        Self { shared: Arc::new(shared) }
    }

    /// `inner` with the faults of this plan.
    #[must_use]
    pub fn wrap(&self, inner: Arc<dyn ObjectStore>) -> Arc<dyn ObjectStore> {
        Arc::new(store::Faulty { inner, plan: self.clone() })
    }

    /// Sets the odds of every verb that has none of its own.
    pub fn set(&self, odds: Odds) {
        self.shared.state.lock().everywhere = odds;
    }

    /// Sets the odds of one verb.
    pub fn set_for(&self, verb: Verb, odds: Odds) {
        self.shared.state.lock().odds.insert(verb, odds);
    }

    /// Ends all odds, scripts and outages; what was killed stays killed.
    pub fn calm(&self) {
        let mut state = self.shared.state.lock();
        *state = State { counts: state.counts, ..State::default() };
    }

    /// Has the next request of this verb whose key contains `part_of_key` meet `injection`. Several queue up.
    pub fn next(&self, verb: Verb, part_of_key: impl Into<String>, injection: Injection) {
        let scripted = Scripted { verb, part_of_key: part_of_key.into(), injection };
        self.shared.state.lock().script.push_back(scripted);
    }

    /// Has each request of this verb whose key contains `part_of_key` meet `injection`, unless something else was queued up for it or
    /// said later, until [`FaultPlan::end_each`].
    pub fn each(&self, verb: Verb, part_of_key: impl Into<String>, injection: Injection) {
        let scripted = Scripted { verb, part_of_key: part_of_key.into(), injection };
        self.shared.state.lock().each.push(scripted);
    }

    /// Ends what [`FaultPlan::each`] began.
    pub fn end_each(&self) {
        self.shared.state.lock().each.clear();
    }

    /// Begins or ends an outage, in which every request fails without effect.
    pub fn outage(&self, on: bool) {
        self.shared.state.lock().outage = on;
    }

    /// From now on nothing takes effect: every request, also one that waits in a delay, fails with an error that is not
    /// retried. It is how a test lets a process die without late writes.
    pub fn kill(&self) {
        self.shared.life.send_replace(Life::Killed { hang: false });
    }

    /// As [`FaultPlan::kill`], but requests never answer.
    pub fn kill_silently(&self) {
        self.shared.life.send_replace(Life::Killed { hang: true });
    }

    /// What has been injected so far.
    #[must_use]
    pub fn counts(&self) -> FaultCounts {
        self.shared.state.lock().counts
    }

    /// Decides what befalls a request, and how long it waits before.
    fn decide(&self, verb: Verb, key: &Path) -> (Duration, Option<Injection>) {
        let mut state = self.shared.state.lock();
        let roll = self.shared.dice.roll(verb, key.as_ref());
        if state.outage {
            return (Duration::ZERO, Some(Injection::FailBefore));
        }
        let scripted = state.script.iter().position(|it| it.meets(verb, key)).and_then(|at| state.script.remove(at));
        let each = || state.each.iter().rev().find(|it| it.meets(verb, key)).map(|it| it.injection);
        match scripted.map(|it| it.injection).or_else(each) {
            Some(Injection::Delay(delay)) => return (delay, None),
            Some(injection) => return (Duration::ZERO, Some(injection)),
            None => {}
        }
        let odds = state.odds.get(&verb).copied().unwrap_or(state.everywhere);
        (odds.delay_max.mul_f64(roll.second), odds.pick(verb, roll.first))
    }

    fn count(&self, injection: Injection) {
        let counts = &mut self.shared.state.lock().counts;
        match injection {
            Injection::FailBefore | Injection::OkWithError | Injection::Hang | Injection::Refuse => {
                counts.before += 1;
            }
            Injection::FailAfter | Injection::OkWithErrorAfter => counts.after += 1,
            Injection::Cut | Injection::CutSilently => counts.cut += 1,
            Injection::Flip => counts.flipped += 1,
            Injection::Delay(_) => {}
        }
    }
}

impl Odds {
    /// The fault that a number from 0 to 1 falls on, if it falls on one.
    fn pick(&self, verb: Verb, number: f64) -> Option<Injection> {
        let reads = verb == Verb::Get;
        let faults = [
            (Injection::FailBefore, self.fail_before),
            (Injection::FailAfter, self.fail_after),
            (Injection::OkWithError, if verb.writes() { self.ok_with_error } else { 0.0 }),
            (Injection::Cut, if reads { self.cut } else { 0.0 }),
            (Injection::CutSilently, if reads { self.cut_silently } else { 0.0 }),
            (Injection::Flip, if reads { self.flip } else { 0.0 }),
        ];
        let mut left = number;
        for (injection, odds) in faults {
            if left < odds {
                return Some(injection);
            }
            left -= odds;
        }
        None
    }
}

#[cfg(test)]
mod tests;
