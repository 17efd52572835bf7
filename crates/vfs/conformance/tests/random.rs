//! The random operations themselves: that they are the same for a seed, reach everything, and see what is wrong.

use std::collections::BTreeMap;
use std::sync::Arc;
use stoa_conformance::{Model, Outcome, Script, State, apply, diff, differential, differential_with, snapshot};
use stoa_vfs::Vfs;

#[test]
fn a_seed_is_one_script() {
    assert_eq!(Script::generate(7, 500), Script::generate(7, 500));
    assert_ne!(Script::generate(7, 500), Script::generate(8, 500));
}

#[tokio::test]
async fn the_model_agrees_with_itself() {
    for seed in 0..6 {
        differential(Arc::new(Model::new()), seed, 1_500).await;
    }
}

#[tokio::test]
async fn the_model_agrees_with_itself_over_reopening() {
    differential_with(Arc::new(Model::new()), 1, 2_000, 150, |store| async {
        store.sync().await.unwrap();
        store
    })
    .await;
}

/// A kind of operation that is always refused tests next to nothing.
#[tokio::test]
async fn every_operation_often_succeeds() {
    let mut done: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for seed in 0..10 {
        let (model, mut state) = (Model::new(), State::new());
        for op in &Script::generate(seed, 3_000).ops {
            let outcome = apply(op, &model, &mut state).await;
            let kind = format!("{op:?}").split([' ', '{']).next().unwrap().to_owned();
            done.entry(kind).or_default()[usize::from(matches!(outcome, Outcome::Refused(_)))] += 1;
        }
    }
    assert_eq!(done.len(), 31, "operations that were never generated: {done:?}");
    let rare: Vec<_> = done.iter().filter(|(_, [succeeded, refused])| succeeded * 25 < succeeded + refused).collect();
    assert!(rare.is_empty(), "hardly ever done (done, refused): {rare:?} of {done:?}");
}

/// References and handles that scripts take they give back: nothing but the tree itself stays.
#[tokio::test]
async fn scripts_leave_nothing_behind() {
    let (model, mut state) = (Model::new(), State::new());
    for op in &Script::generate(3, 3_000).ops {
        apply(op, &model, &mut state).await;
    }
    state.close_all(&model).await;
    let tree = snapshot(&model).await.unwrap();
    let inodes = tree.iter().filter(|(path, picture)| **path == picture.first_name).count() as u64;
    assert_eq!(model.statfs().await.unwrap().inodes_used, inodes);
}

#[tokio::test]
async fn a_difference_is_told() {
    let (left, right) = (Model::new(), Model::new());
    let script = Script::generate(5, 400);
    for model in [&left, &right] {
        let mut state = State::new();
        for op in &script.ops {
            apply(op, model, &mut state).await;
        }
    }
    let (before, same) = (snapshot(&left).await.unwrap(), snapshot(&right).await.unwrap());
    assert_eq!(diff(&before, &same), Vec::<String>::new());
    let set = stoa_vfs::SetAttr { uid: Some(31_337), ..Default::default() };
    right.setattr(stoa_vfs::Ino::ROOT, &set).await.unwrap();
    let lines = diff(&before, &snapshot(&right).await.unwrap());
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("/: attributes"), "{lines:?}");
}
