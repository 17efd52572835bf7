use super::{ALL, check};
use std::collections::BTreeSet;

#[test]
fn names_are_unique() {
    let rows = ALL.iter().flat_map(|scenario| scenario.rows).map(|row| row.id);
    let ids: Vec<_> = rows.collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
}

#[test]
fn rows_are_chosen_by_beginnings_of_names() {
    let words = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
    check(&words("create,create-2000,tree,untar")).unwrap();
    check(&words("creat")).unwrap_err();
}
