use super::*;
use std::os::unix::fs::symlink;

#[test]
fn every_file_is_met_once_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir_all(at("b/c")).unwrap();
    for (name, text) in [("a", "12345"), ("b/c/d", "123"), ("b/e", "1"), ("empty", "")] {
        fs::write(at(name), text).unwrap();
    }
    fs::hard_link(at("a"), at("b/again")).unwrap();
    symlink(at("a"), at("link")).unwrap();
    symlink(dir.path(), at("b/loop")).unwrap();
    let shared = Shared::default();
    let mut names = Vec::new();
    let all = each(&[dir.path().to_owned()], &shared, &mut |path, _| {
        names.push(path.strip_prefix(dir.path()).unwrap().display().to_string());
        ControlFlow::Continue(())
    });
    assert!(all.is_continue());
    assert_eq!(names, ["a", "b/c/d", "b/e"]);
    assert_eq!(shared.errors().count, 0);
    let asked = Asked::count(&[dir.path().to_owned()], &shared);
    assert_eq!((asked.files, asked.bytes), (3, 9));
    shared.interrupt();
    assert_eq!(Asked::count(&[dir.path().to_owned()], &shared), Asked::default());
}
