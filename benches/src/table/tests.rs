use super::{Row, Table};
use std::time::Duration;

#[test]
fn shows_medians_and_gaps() {
    let mut table = Table::new(["a", "b", "c"]);
    for seconds in [9, 1, 2] {
        table.add(Row::Find, 1, Duration::from_secs(seconds));
    }
    let text = table.markdown();
    assert!(text.contains("| find in that tree, cold | - | 2.000 | - |"), "{text}");
}
