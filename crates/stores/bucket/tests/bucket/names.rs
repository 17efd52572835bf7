//! Every key is reached by exactly one path.

use crate::world::{World, doubting, patient, walk};
use proptest::prelude::*;
use std::collections::BTreeSet;
use stoa_bucket::Options;
use stoa_vfs::{Error, Vfs};

/// Keys of every kind.
fn keys() -> Vec<String> {
    let plain = [
        "a b",
        "a+b",
        "100%",
        "a%2Fb",
        "ü/日本/🦀",
        "<&>\"'",
        "back\\slash",
        ".hidden",
        "...",
        "tab\t",
        "line\nfeed",
        "\u{1}",
        "both",
        "both/below",
        "both-1",
        "both.txt",
        "deep/both",
        "deep/both/",
        "deep/both/x",
        "deep/both!",
        "a//b",
        "a///c",
        "a//",
        "//",
        "/",
        "/first",
        "./dot",
        "../dots",
        "x/.",
        "x/..",
        "x/./y",
        ".",
        "..",
        "dir/",
        "dir/x",
        "empty/",
        "slashes//",
        "%@file",
        "%@",
        "esc/%@-",
        "esc/a%@file",
        "esc/a",
        "esc/a/b",
        "esc/%@+",
        "nothing",
        "nothing//",
    ];
    let mut keys: Vec<String> = plain.map(str::to_owned).into();
    for len in [249, 250, 252, 253, 255, 256, 300, 700] {
        let long = "l".repeat(len);
        keys.extend([format!("long/{long}"), format!("long/{long}/below"), format!("only/{long}")]);
    }
    keys.push(format!("only/{}x", "l".repeat(299)));
    keys.push("€".repeat(341));
    keys
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_key_has_one_path() {
    let world = World::new(&patient()).await;
    let mut keys = keys();
    world.put_all(&keys).await;
    // With content a marker is a file as well; without, it is the directory alone.
    world.put("silent/", "").await;
    world.put("silent/x/", "").await;
    keys.sort();
    let expected: BTreeSet<Vec<u8>> = keys.iter().map(|key| key.clone().into_bytes()).collect();
    for page_keys_max in [None, Some(1), Some(2), Some(5)] {
        for options in [patient(), doubting()] {
            let files = world.again(&Options { page_keys_max, ..options });
            let found = walk(files.as_ref(), 3).await;
            let found: BTreeSet<_> = found.into_keys().collect();
            assert_eq!(found, expected, "{page_keys_max:?}");
        }
    }
}

#[tokio::test]
async fn what_ls_shows() {
    let world = World::new(&patient()).await;
    world.put_all(&["cat", "dog", "dog/house", "dog-1", "a//b", "c/.", "c/..", "c/./d", "%@file", "100%"]).await;
    world.put("made/", "").await;
    assert_eq!(world.ls("").await, ["%@@file", "100%", "a", "c", "cat", "dog", "dog%@file", "dog-1", "made"]);
    assert_eq!(world.ls("a").await, ["%@-"]);
    assert_eq!(world.ls("a/%@-").await, ["b"]);
    assert_eq!(world.ls("c").await, ["%@-.", "%@-..", ".%@file"]);
    assert_eq!(world.ls("made").await, Vec::<String>::new());
    assert_eq!(world.cat("dog%@file").await.unwrap(), b"dog");
    assert_eq!(world.cat("dog/house").await.unwrap(), b"dog/house");
}

#[tokio::test]
async fn only_its_own_name_finds_an_object() {
    let world = World::new(&doubting()).await;
    world.put_all(&["cat", "dog", "dog/house", &"l".repeat(300)]).await;
    for none in ["cat%@file", "%@-cat", "cat%@-", "dog%@", "%@cat", "dog/house%@file", "l", "ca", "cat ", "cat%@+"] {
        assert_eq!(world.stat(none).await.err(), Some(Error::NotFound), "{none}");
    }
    let beginning = |len: usize| format!("{}%@+", "l".repeat(len));
    assert_eq!(world.stat(&beginning(251)).await.err(), Some(Error::NotFound), "it is not cut there");
    assert_eq!(world.ls(&beginning(252)).await, ["l".repeat(48)]);
    assert_eq!(world.stat("cat/x").await.err(), Some(Error::NotDirectory));
}

#[tokio::test]
async fn a_prefix_shows_what_is_below_it_and_nothing_beside() {
    let world = World::below("photos/", &patient()).await;
    world.put_all(&["photos", "photos-2", "photos/cat", "photos/2024/dog", "photosx/y", "other"]).await;
    world.put("photos/", "").await;
    assert_eq!(world.ls("").await, ["2024", "cat"]);
    assert_eq!(world.cat("2024/dog").await.unwrap(), b"photos/2024/dog");
    assert_eq!(world.files.parent(stoa_vfs::Ino::ROOT).await, Ok(stoa_vfs::Ino::ROOT));
}

fn odd_keys() -> impl Strategy<Value = BTreeSet<String>> {
    let component = prop::sample::select(vec!["", "a", "a-", "a!", "b", ".", "..", "%@", "%@file", "a%@file", "-"]);
    let long = prop::sample::select(vec![250_usize, 252, 255, 256, 260]).prop_map(|len| "a".repeat(len));
    let component = prop_oneof![9 => component.prop_map(str::to_owned), 1 => long];
    let key = prop::collection::vec(component, 1..4).prop_map(|parts| parts.join("/"));
    prop::collection::btree_set(key.prop_filter("a key", |key| !key.is_empty()), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_keys_have_one_path_each(keys in odd_keys(), page in 1..6_u16, count in 1..5_usize) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let world = World::new(&Options { page_keys_max: Some(page), ..patient() }).await;
            let keys: Vec<_> = keys.into_iter().collect();
            world.put_all(&keys).await;
            let found = walk(world.files.as_ref(), count).await;
            let expected: BTreeSet<_> = keys.into_iter().map(String::into_bytes).collect();
            assert_eq!(found.into_keys().collect::<BTreeSet<_>>(), expected);
        });
    }
}
