use super::*;

#[test]
fn it_is_silent_for_a_moment_and_then_speaks_now_and_then() {
    let seconds = Duration::from_secs;
    assert!(!is_due(seconds(1), None, true));
    assert!(is_due(seconds(2), None, true));
    assert!(!is_due(seconds(31), Some(seconds(29)), true));
    assert!(is_due(seconds(32), Some(seconds(30)), true));
    // A meter goes on by itself.
    assert!(is_due(seconds(2), None, false));
    assert!(!is_due(seconds(100), Some(seconds(98)), false));
}
