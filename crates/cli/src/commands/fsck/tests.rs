use super::*;
use stoa_volume::{FsckReport, Problem as Found};

/// The report as it arrives: made by the volume, through JSON.
fn report(problems: Vec<Found>) -> Report {
    let left = problems.iter().filter(|problem| !problem.repaired).count();
    let report = FsckReport {
        inodes: 1,
        dentries: 2,
        extents: 3000,
        segments: 1,
        frames_verified: 5,
        problems,
        problems_left_out: 0,
        problems_left: left.try_into().unwrap(),
        orphan_segments: 0,
    };
    Report::deserialize(limited(&report, "").unwrap()).unwrap()
}

fn problem(what: &str, repaired: bool) -> Found {
    Found { what: what.into(), repaired }
}

#[test]
fn a_clean_volume() {
    let report = report(Vec::new());
    assert_eq!(report.code(), 0);
    let expected = "looked at 1 inode, 2 names, 3,000 extents, 1 segment; read and verified 5 frames\nclean";
    assert_eq!(report.text(), expected);
}

#[test]
fn problems_are_listed_and_decide_the_exit_code() {
    let repaired = report(vec![problem("inode 7: link count", true)]);
    assert_eq!(repaired.code(), FSCK_REPAIRED);
    assert!(repaired.text().starts_with("repaired  inode 7: link count\n"));
    let left = report(vec![problem("a", true), problem("data/00/x: checksum", false)]);
    assert_eq!(left.code(), FSCK_PROBLEMS);
    assert!(left.text().contains("\nPROBLEM   data/00/x: checksum\n"), "{}", left.text());
}

#[test]
fn orphans_are_told_of_but_no_problem() {
    let report = Report { orphan_segments: 2, ..report(Vec::new()) };
    assert_eq!(report.code(), 0);
    assert!(report.text().contains("2 segments that nothing names"));
}

#[test]
fn problems_that_are_not_listed_decide_the_exit_code_too() {
    let left = Report { problems_left_out: 2, problems_left: 1, ..report(vec![problem("x", true)]) };
    assert_eq!(left.code(), FSCK_PROBLEMS);
    assert!(left.text().contains("\n... and 2 problems more\n"), "{}", left.text());
    assert!(left.text().ends_with("1 problem left; --repair mends what can be mended without losing anything"));
    let repaired = Report { problems_left_out: 2, ..report(vec![problem("x", true)]) };
    assert_eq!(repaired.code(), FSCK_REPAIRED);
}
