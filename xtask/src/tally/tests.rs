use super::Tally;

const OUTPUT: &str = "
running 3 tests
test a::b ... ok
test a::c ... FAILED
test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 4 filtered out; finished in 0.0s
test result: ok. 12 passed; 0 failed; 0 ignored
";

#[test]
fn results_of_several_binaries_are_added() {
    let mut tally = Tally::default();
    tally.read_cargo_test("unit", OUTPUT, false);
    assert_eq!((tally.passed, tally.failed), (13, 1));
    assert_eq!(tally.failures, ["unit: a::c"]);
}

#[test]
fn a_run_that_does_not_compile_is_a_failure() {
    let mut tally = Tally::default();
    tally.read_cargo_test("unit", "error[E0308]: mismatched types", false);
    assert_eq!((tally.passed, tally.failed), (0, 1));
}
