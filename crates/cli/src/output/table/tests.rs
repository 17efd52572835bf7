use super::*;

#[test]
fn columns_line_up_left_and_right() {
    let mut table = Table::new(&[1]);
    table.row(["name", "size", "note"]);
    table.row(["ä", "1234567", ""]);
    table.row(["longer"]);
    assert_eq!(table.to_string(), "name       size  note\nä       1234567\nlonger");
}

#[test]
fn no_rows_are_nothing() {
    assert_eq!(Table::new(&[]).to_string(), "");
}
