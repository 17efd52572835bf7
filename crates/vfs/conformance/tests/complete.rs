//! Every case that is written is run.

use std::collections::BTreeSet;
use std::path::Path;
use stoa_conformance::run::CASES;

#[test]
fn every_case_stands_in_the_list() {
    let mut written = BTreeSet::new();
    for file in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cases")).unwrap() {
        let path = file.unwrap().path();
        let subject = path.file_stem().unwrap().to_str().unwrap().to_owned();
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            if let Some(case) = line.strip_prefix("pub async fn ") {
                let (case, _) = case.split_once('(').unwrap();
                written.insert(format!("{subject}::{case}"));
            }
        }
    }
    let listed: BTreeSet<_> = CASES.iter().map(|case| case.name.to_owned()).collect();
    assert_eq!(listed.len(), CASES.len(), "a case is listed twice");
    assert_eq!(written, listed);
}
