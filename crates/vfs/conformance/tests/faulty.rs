//! The suite and the random operations see faults: each store here is the model with one thing wrong.

mod faulty {
    pub(crate) mod store;
}

use faulty::store::{Fault, Faulty};
use std::sync::Arc;
use stoa_conformance::run::CASES;
use stoa_conformance::{Capabilities, differential};

/// Faults, and a case that is there to find each.
const FAULTS: [(Fault, &str); 7] = [
    (Fault::NoReplaceReplaces, "rename::every_pair_of_kinds_not_replaced"),
    (Fault::DataIsFoundLate, "holes::written_bytes_are_never_in_a_hole"),
    (Fault::CopyIsShort, "copy_range::a_whole_file"),
    (Fault::GrowingShowsJunk, "truncate::growing_is_zeros"),
    (Fault::EntriesAreSkipped, "directories::pages_of_any_size"),
    (Fault::ModeIgnoresAcl, "acl::chmod_changes_the_mask"),
    (Fault::LinkCountIsOff, "links::two_names_are_one_file"),
];

#[tokio::test]
async fn the_suite_sees_faults() {
    for (fault, name) in FAULTS {
        let case = CASES.iter().find(|case| case.name == name).unwrap();
        let result = case.run(Arc::new(Faulty::new(fault)), Capabilities::ALL).await;
        assert!(result.is_err(), "{name} passed a store with {fault:?}");
    }
}

#[tokio::test]
async fn references_that_are_not_given_back_are_seen() {
    let case = CASES.iter().find(|case| case.name == "orphans::forget_counts_references").unwrap();
    assert!(case.run(Arc::new(Faulty::new(Fault::ForgetForgets)), Capabilities::ALL).await.is_err());
}

#[tokio::test]
async fn random_operations_see_faults() {
    for (fault, _) in FAULTS {
        let run = tokio::spawn(differential(Arc::new(Faulty::new(fault)), 1, 4_000));
        let failure = run.await.expect_err(&format!("{fault:?} was not seen")).into_panic();
        let text = failure.downcast_ref::<String>().unwrap();
        assert!(text.contains("step") || text.contains("hole"), "{text}");
    }
}
