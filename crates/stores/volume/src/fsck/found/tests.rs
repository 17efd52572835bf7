use super::*;
use stoa_vfs::Ino;

fn links(number: u64) -> Fix {
    Fix::Links(Ino(number), 1)
}

#[test]
fn what_is_not_listed_is_counted_and_mended_all_the_same() {
    let mut found = Found::default();
    for number in 0..25_000 {
        found.mendable(format!("links of {number}"), links(number));
    }
    found.lasting("lost".into());
    assert_eq!(found.fixes().len(), 25_000);
    let mut report = FsckReport::default();
    found.tell(true, &mut report);
    assert_eq!(report.problems[0], Problem { what: "lost".into(), repaired: false });
    assert_eq!(report.problems.len(), 10_001);
    assert_eq!((report.problems_left_out, report.problems_left), (15_000, 1));
}

#[test]
fn nothing_is_left_when_all_is_mended() {
    let mut found = Found::default();
    found.mendable("links".into(), links(1));
    let mut report = FsckReport::default();
    found.tell(true, &mut report);
    assert_eq!(report.problems, [Problem { what: "links".into(), repaired: true }]);
    assert_eq!((report.problems_left_out, report.problems_left), (0, 0));
}

#[test]
fn where_a_record_cannot_be_read_no_count_is_touched() {
    let mut found = Found { incomplete: true, ..Found::default() };
    found.mendable("links".into(), links(1));
    found.mendable("number".into(), Fix::NextIno(Ino(7)));
    assert_eq!(found.fixes(), [Fix::NextIno(Ino(7))]);
    let mut report = FsckReport::default();
    found.tell(true, &mut report);
    assert_eq!(report.problems.iter().map(|problem| problem.repaired).collect::<Vec<_>>(), [false, true]);
    assert_eq!(report.problems_left, 1);
}
