use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn object(key: &str) -> Listed {
    Listed { key: key.to_owned(), size: 1, etag: None, modified: None, storage_class: None }
}

fn page(objects: &[&str], prefixes: &[&str]) -> Page {
    let prefixes = prefixes.iter().map(|prefix| (*prefix).to_owned()).collect();
    Page { objects: objects.iter().map(|key| object(key)).collect(), prefixes, next: None }
}

fn names(entries: &[(Name, Item)]) -> Vec<String> {
    entries.iter().map(|(name, _)| name.to_string()).collect()
}

#[test]
fn an_object_stays_open_until_it_is_known_to_be_alone() {
    let root = Directory::new("");
    let (entries, mark) = merge(&root, &Mark::default(), page(&["a", "a-1"], &[]), false).unwrap();
    assert_eq!(names(&entries), Vec::<String>::new());
    assert_eq!(mark.open, [object("a"), object("a-1")]);
    let (entries, mark) = merge(&root, &mark, page(&["a-2"], &[]), false).unwrap();
    assert_eq!((names(&entries), mark.open.len()), (vec!["a-1".to_owned()], 2));
    let (entries, mark) = merge(&root, &mark, page(&["b"], &["a/"]), true).unwrap();
    assert_eq!(names(&entries), ["a-2", "a%@file", "a", "b"]);
    assert_eq!((mark.open.len(), mark.after.as_str()), (0, "b"));
}

#[test]
fn what_has_its_name_above_is_not_listed_below() {
    let long = "x".repeat(300);
    let inner = Directory::new("").continued(&"x".repeat(252));
    let short = "x".repeat(253);
    let (entries, _) = merge(&inner, &Mark::default(), page(&[&short, &long], &[]), true).unwrap();
    assert_eq!(names(&entries), ["x".repeat(48)]);
}

#[test]
fn a_beginning_is_listed_once_over_all_pages() {
    let root = Directory::new("");
    let keys = ["a", "b", "c"].map(|end| format!("{}{end}", "x".repeat(300)));
    let (entries, mark) = merge(&root, &Mark::default(), page(&[&keys[0], &keys[1]], &[]), false).unwrap();
    assert_eq!(entries.len(), 1);
    let (entries, _) = merge(&root, &mark, page(&[&keys[2]], &[]), true).unwrap();
    assert_eq!(entries.len(), 0);
}

#[test]
fn a_server_without_order_is_found_out() {
    let root = Directory::new("");
    assert_eq!(merge(&root, &Mark::default(), page(&["b", "a"], &[]), true), Err("a".to_owned()));
    assert_eq!(merge(&root, &Mark::default(), page(&["a", "a"], &[]), true), Err("a".to_owned()));
}

proptest! {
    /// Cut into pages anywhere, a listing gives the same names.
    #[test]
    fn pages_make_up_the_whole(keys in prop::collection::btree_set("[ab!/-]{1,4}", 1..20), size in 1..5_usize) {
        let root = Directory::new("");
        let listed: BTreeSet<String> = keys.iter().map(|key| match key.split_once('/') {
            Some((first, _)) => format!("{first}/"),
            None => key.clone(),
        }).collect();
        let listed: Vec<&str> = listed.iter().map(String::as_str).collect();
        let of = |keys: &[&str]| {
            let (prefixes, objects): (Vec<&str>, Vec<&str>) = keys.iter().partition(|key| key.ends_with('/'));
            page(&objects, &prefixes)
        };
        let (whole, _) = merge(&root, &Mark::default(), of(&listed), true).unwrap();
        let (mut pages, mut mark) = (Vec::new(), Mark::default());
        let count = listed.chunks(size).len();
        for (at, keys) in listed.chunks(size).enumerate() {
            let (entries, next) = merge(&root, &mark, of(keys), at + 1 == count).unwrap();
            pages.extend(names(&entries));
            mark = next;
        }
        prop_assert_eq!(pages, names(&whole));
        prop_assert_eq!(whole.len(), listed.len());
        let unique: BTreeSet<_> = names(&whole).into_iter().collect();
        prop_assert_eq!(unique.len(), whole.len());
    }
}
