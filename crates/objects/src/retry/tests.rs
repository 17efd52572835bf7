mod careless;
mod reads;
mod writes;

use crate::{ConnectOptions, Connected, FaultPlan, RetryPolicy};
use object_store::ObjectStore;
use object_store::memory::InMemory;
use std::sync::Arc;
use std::time::Duration;

/// A store in memory, bare, with faults, and with faults under the layers.
pub(super) struct Bench {
    pub(super) bare: Arc<dyn ObjectStore>,
    pub(super) plan: FaultPlan,
    pub(super) connected: Connected,
}

impl Bench {
    pub(super) fn new(policy: RetryPolicy) -> Self {
        Self::over(Arc::new(InMemory::new()), policy)
    }

    pub(super) fn over(bare: Arc<dyn ObjectStore>, policy: RetryPolicy) -> Self {
        let plan = FaultPlan::new(7);
        let options = ConnectOptions { retry: policy, ..ConnectOptions::default() };
        let connected = Connected::over(plan.wrap(Arc::clone(&bare)), &options);
        Self { bare, plan, connected }
    }

    pub(super) fn store(&self) -> &dyn ObjectStore {
        self.connected.store.as_ref()
    }
}

#[test]
fn waits_double_up_to_the_cap_and_differ() {
    let policy = RetryPolicy::default();
    for (failed, full) in [(1, 50), (2, 100), (5, 800), (20, 4_000), (u32::MAX, 4_000)] {
        let full = Duration::from_millis(full);
        for _ in 0..100 {
            let pause = policy.pause(failed);
            assert!(pause <= full && pause >= full / 2, "{failed}: {pause:?}");
        }
    }
    let different: std::collections::HashSet<_> = (0..50).map(|_| policy.pause(9)).collect();
    assert!(different.len() > 40, "clients don't march in step");
}
