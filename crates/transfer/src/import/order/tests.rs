use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn listed(key: &str, size: u64) -> Listed {
    Listed { key: key.to_owned(), size, etag: None, modified: None, storage_class: None }
}

fn steps(keys: &[(&str, u64)]) -> Vec<String> {
    let mut order = Order::default();
    let mut steps: Vec<Step> = keys.iter().flat_map(|(key, size)| order.next(listed(key, *size)).unwrap()).collect();
    steps.extend(order.end());
    let text = |step: Step| match step {
        Step::Object { listed, beside: true } => format!("{} beside", listed.key),
        Step::Object { listed, beside: false } => listed.key,
        Step::Directory(key) => format!("in {key}"),
        Step::Left(key) => format!("out {key}"),
    };
    steps.into_iter().map(text).collect()
}

#[test]
fn an_object_beside_a_directory_is_known_late() {
    assert_eq!(
        steps(&[("a", 1), ("a-b", 1), ("a-b.c", 1), ("a/x", 1), ("b", 1)]),
        ["a-b.c", "a-b", "a beside", "a/x", "b"]
    );
    assert_eq!(steps(&[("a", 1), ("a-b", 1), ("a0", 1)]), ["a-b", "a", "a0"]);
}

#[test]
fn a_marker_is_the_directory_unless_it_has_content() {
    assert_eq!(steps(&[("d", 1), ("d/", 0), ("d/x", 1), ("e/", 3)]), ["d beside", "in d/", "d/x", "out d/", "e/"]);
    assert_eq!(steps(&[("", 0), ("x", 0)]), ["x"]);
}

#[test]
fn another_order_is_refused() {
    let mut order = Order::default();
    order.next(listed("b", 1)).unwrap();
    assert!(matches!(order.next(listed("a", 1)), Err(Error::Unsupported { .. })));
    assert!(order.next(listed("b", 1)).is_err());
}

proptest! {
    #[test]
    fn every_object_comes_once_and_says_what_is_beside_it(keys in prop::collection::btree_set("[-./0a]{1,5}", 0..40)) {
        let mut order = Order::default();
        let mut steps = Vec::new();
        for key in &keys {
            prop_assert!(order.waiting.len() <= 5);
            steps.extend(order.next(listed(key, 1)).unwrap());
        }
        steps.extend(order.end());
        let mut seen = BTreeSet::new();
        for step in steps {
            let Step::Object { listed, beside } = step else { panic!("no markers") };
            let below = format!("{}/", listed.key);
            prop_assert_eq!(beside, keys.iter().any(|key| key.starts_with(&below)), "{}", &listed.key);
            seen.insert(listed.key);
        }
        prop_assert_eq!(seen, keys);
    }
}
