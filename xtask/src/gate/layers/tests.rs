use super::{Metadata, violations};

fn of(package: &str, dependency: &str, kind: &str) -> Vec<String> {
    let json = format!(
        r#"{{"packages":[{{"name":"{package}","dependencies":[
            {{"name":"{dependency}","kind":{kind},"path":"/somewhere"}},
            {{"name":"serde","kind":null,"path":null}}]}}]}}"#
    );
    let metadata: Metadata = serde_json::from_str(&json).unwrap();
    violations(&metadata)
}

#[test]
fn to_the_right_is_fine() {
    assert!(of("stoa-volume", "stoa-meta", "null").is_empty());
    assert!(of("stoa-volume", "stoa-conformance", "\"dev\"").is_empty());
}

#[test]
fn to_the_left_is_named_with_its_rule() {
    assert_eq!(
        of("stoa-vfs", "stoa-volume", "null"),
        ["stoa-vfs -> stoa-volume: the waist knows neither stores nor doors, and does no IO"]
    );
    assert_eq!(of("stoa-fuse", "stoa-volume", "null").len(), 1);
    assert_eq!(of("stoa-volume", "stoa-conformance", "null").len(), 1);
    assert_eq!(of("stoa-objects", "stoa-fuse", "\"dev\"").len(), 1);
}

#[test]
fn a_new_crate_must_be_placed() {
    assert_eq!(of("stoa-nfs", "stoa-vfs", "null").len(), 1);
}
