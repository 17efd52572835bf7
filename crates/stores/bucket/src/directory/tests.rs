use super::Directory;

#[test]
fn components_and_back() {
    let root = Directory::new("");
    let photos = root.below("photos");
    assert_eq!(photos.prefix(), "photos/");
    assert_eq!(photos.component("photos/cat.jpg"), "cat.jpg");
    assert_eq!(photos.component("photos/"), "");
    assert_eq!(photos.key("cat.jpg"), "photos/cat.jpg");
    assert_eq!(photos.parent(), Some(root.clone()));
    assert_eq!(root.parent(), None);
    assert_eq!(photos.below("").parent(), Some(photos.clone()));
    assert_eq!(root.below("").prefix(), "/");
    assert_eq!(root.below("").parent(), Some(root));
}

#[test]
fn a_component_too_long_for_a_name_has_directories_in_between() {
    let root = Directory::new("data/");
    let long = "x".repeat(600);
    let first = root.part(&long, false).unwrap();
    let inner = root.continued(&long[..first.end]);
    assert!(inner.is_continued());
    assert_eq!(inner.prefix(), format!("data/{}", "x".repeat(252)));
    let second = inner.part(&long, false).unwrap();
    let innermost = inner.continued(&long[..second.end]);
    let last = innermost.part(&long, false).unwrap();
    assert_eq!((second.end, last.end), (504, 600));
    assert_eq!(innermost.key(&long), format!("data/{long}"));
    assert_eq!(innermost.parent(), Some(inner.clone()));
    assert_eq!(inner.parent(), Some(root.clone()));
    assert_eq!(innermost.below(&long).prefix(), format!("data/{long}/"));
    assert_eq!(root.below(&long).parent(), Some(innermost));
    assert_eq!(inner.part(&"x".repeat(255), false), None, "it has its name above");
}
