use super::*;
use crate::metrics::snapshot::example as at;

fn words(line: &Line) -> Vec<String> {
    line.text().split_whitespace().map(str::to_owned).collect()
}

#[test]
fn the_first_line_is_the_average_since_the_mount_began() {
    let line = Line::since_mount(&at(2, 2));
    assert!(line.since_mount);
    let expected = ["100", "1.0M", "1.0K", "10", "6.0", "1.0", "2.0M", "2.0K", "75%", "12.3M", "5.0M", "1.0G"];
    assert_eq!(words(&line), expected);
}

#[test]
fn others_are_what_happened_since_the_one_before() {
    let line = Line::between(&at(10, 1), &at(20, 2));
    assert_eq!(words(&line)[..8], ["10", "102K", "102", "1.0", "0.6", "0.1", "205K", "205"]);
    let idle = Line::between(&at(10, 1), &at(11, 1));
    assert_eq!(words(&idle)[..9], ["0", "0", "0", "0", "0", "0", "0", "0", "-"]);
}

#[test]
fn every_value_stands_below_its_name() {
    let text = Line::since_mount(&at(2, 2)).text();
    assert_eq!(HEADER[1].split_whitespace().count(), text.split_whitespace().count());
    assert_eq!(HEADER[1].len(), text.len());
    let ends = |text: &str| -> Vec<usize> {
        let bytes = text.as_bytes();
        (0..bytes.len()).filter(|&i| bytes[i] != b' ' && bytes.get(i + 1).is_none_or(|next| *next == b' ')).collect()
    };
    assert_eq!(ends(HEADER[1]), ends(&text));
}

#[test]
fn json_is_one_line_of_plain_numbers() {
    let json = Line::between(&at(10, 1), &at(20, 2)).json();
    assert!(!json.contains('\n'));
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["operations_per_second"], 10.0);
    assert_eq!(value["cache_hit_share"], 0.75);
    assert_eq!(value["since_mount"], false);
}
