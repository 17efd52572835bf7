use super::*;
use futures::FutureExt;
use std::pin::pin;

fn paths(path: &str) -> Vec<String> {
    vec![path.to_owned()]
}

#[tokio::test]
async fn a_move_waits_for_changes_below_and_lets_no_more_begin() {
    let moves = Moves::default();
    let change = moves.begin(Work::Change, paths("a/b/")).await;
    let elsewhere = moves.begin(Work::Change, paths("c/")).await;
    let mut moving = pin!(moves.begin(Work::Move, vec!["a/".into(), "d/".into()]));
    assert!((&mut moving).now_or_never().is_none());
    let mut later = pin!(moves.begin(Work::Change, paths("d/x/")));
    assert!((&mut later).now_or_never().is_none());
    assert!(moves.begin(Work::Change, paths("c/x/")).now_or_never().is_some());
    assert!(moves.begin(Work::Look, paths("a/b/")).now_or_never().is_some());
    drop(change);
    let moving = moving.now_or_never().expect("nobody is below any more");
    assert!((&mut later).now_or_never().is_none());
    drop((moving, elsewhere));
    assert!(later.now_or_never().is_some());
}

#[tokio::test]
async fn a_switch_waits_for_who_looks_and_has_others_wait() {
    let moves = Moves::default();
    let moving = moves.begin(Work::Move, paths("a/")).await;
    let looks = moves.begin(Work::Look, paths("a/x/")).await;
    let mut switch = pin!(moving.switch());
    assert!((&mut switch).now_or_never().is_none());
    let mut later = pin!(moves.begin(Work::Look, paths("a/y/")));
    assert!((&mut later).now_or_never().is_none());
    drop(looks);
    assert!((&mut switch).now_or_never().is_some());
    assert!((&mut later).now_or_never().is_none());
    moving.switched();
    assert!(later.now_or_never().is_some());
}

#[tokio::test]
async fn moves_that_meet_take_turns() {
    let moves = Moves::default();
    let first = moves.begin(Work::Move, vec!["a/".into(), "b/".into()]).await;
    let mut second = pin!(moves.begin(Work::Move, vec!["b/c/".into(), "d/".into()]));
    assert!((&mut second).now_or_never().is_none());
    assert!(moves.begin(Work::Move, paths("e/")).now_or_never().is_some());
    drop(first);
    assert!(second.now_or_never().is_some());
}
