use super::*;

#[test]
fn only_root_and_the_owner_may_ask() {
    assert!(may_ask(0, 1000));
    assert!(may_ask(1000, 1000));
    assert!(!may_ask(1001, 1000));
    assert!(!may_ask(1000, 0));
}
