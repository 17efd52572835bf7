use super::*;
use stoa_volume::GcReport;

#[test]
fn what_the_volume_reports_is_understood_and_shown() {
    let report = GcReport {
        segments: 1200,
        deleted_segments: 1,
        deleted_bytes: 3 << 20,
        rewritten_segments: 2,
        rewritten_bytes: 512,
    };
    let report = Report::deserialize(&limited(&report, "").unwrap()).unwrap();
    let expected = "looked at 1,200 segments\ndeleted   1 segment (3.0 MiB)\nrewrote   2 segments (512 B moved)";
    assert_eq!(report.text(), expected);
}
