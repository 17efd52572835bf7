use super::*;

#[test]
fn long_lists_are_cut_and_the_rest_is_counted() {
    let report = json!({ "extents": vec![0; LISTED_MAX + 7], "size": 1 });
    let cut = limited(&report, "extents").unwrap();
    assert_eq!(cut["extents"].as_array().unwrap().len(), LISTED_MAX);
    assert_eq!(cut["extents_left_out"], 7);
    let short = json!({ "extents": [1], "size": 1 });
    assert_eq!(limited(&short, "extents").unwrap(), short);
}

#[tokio::test]
async fn writing_back_says_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(write_back(dir.path()).await, Ok(()));
    assert!(write_back(&dir.path().join("gone")).await.unwrap_err().contains("No such file"));
}
