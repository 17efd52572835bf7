//! The same script on a store and on the model.

use super::apply::{State, apply};
use super::generate::Script;
use super::op::Op;
use super::snapshot::{diff, snapshot};
use crate::Model;
use std::fmt::Write;
use std::sync::Arc;
use stoa_vfs::Vfs;

/// How often the whole trees are compared.
const COMPARE_EVERY: usize = 100;
/// How many operations before a mismatch are shown.
const SHOWN: usize = 30;

/// Runs `operations` random operations on an empty `store` and on the model, and panics where they differ, with the seed,
/// the step and the operations before it.
pub async fn differential(store: Arc<dyn Vfs>, seed: u64, operations: usize) {
    differential_with(store, seed, operations, usize::MAX, |store| async { store }).await;
}

/// As [`differential`], and after every `every` operations closes all files and goes on with the store that `reopen`
/// makes of this one: the same synced, with its caches dropped, or mounted again. It must hold all that was done.
pub async fn differential_with<R: Future<Output = Arc<dyn Vfs>>>(
    store: Arc<dyn Vfs>,
    seed: u64,
    operations: usize,
    every: usize,
    reopen: impl Fn(Arc<dyn Vfs>) -> R,
) {
    let script = Script::generate(seed, operations);
    let mut run = Run { seed, script: &script, store, model: Model::new(), states: [State::new(), State::new()] };
    for (step, op) in script.ops.iter().enumerate() {
        run.step(step, op).await;
        let reopening = (step + 1) % every == 0;
        if reopening {
            let [store_state, model_state] = &mut run.states;
            store_state.close_all(run.store.as_ref()).await;
            model_state.close_all(&run.model).await;
            run.store = reopen(run.store).await;
        }
        if reopening || (step + 1) % COMPARE_EVERY == 0 || step + 1 == operations {
            run.compare(step).await;
        }
    }
}

struct Run<'a> {
    seed: u64,
    script: &'a Script,
    store: Arc<dyn Vfs>,
    model: Model,
    /// Of the store, and of the model.
    states: [State; 2],
}

impl Run<'_> {
    async fn step(&mut self, step: usize, op: &Op) {
        let [store_state, model_state] = &mut self.states;
        let got = apply(op, self.store.as_ref(), store_state).await;
        let expected = apply(op, &self.model, model_state).await;
        if got != expected {
            self.fail(step, &format!("the store gave {got:?}\nthe model gave {expected:?}"));
        }
    }

    async fn compare(&self, step: usize) {
        let expected = snapshot(&self.model).await.expect("the model shows all it holds");
        match snapshot(self.store.as_ref()).await {
            Ok(got) if got == expected => {}
            Ok(got) => self.fail(step, &format!("store (left) and model:\n{}", diff(&got, &expected).join("\n"))),
            Err(error) => self.fail(step, &format!("the store can't be read: {error:?}")),
        }
    }

    fn fail(&self, step: usize, what: &str) -> ! {
        let mut shown = String::new();
        for (number, op) in self.script.ops.iter().enumerate().take(step + 1).skip((step + 1).saturating_sub(SHOWN)) {
            writeln!(shown, "{number:6}  {op:?}").expect("a String takes all");
        }
        panic!("seed {}, step {step}: {what}\nthe last operations:\n{shown}", self.seed);
    }
}
