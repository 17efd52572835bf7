//! Listings: what they cost, cookies, and changes under them.

use crate::world::{Cost, FREE, World, doubting, lists, name, patient, scan, text};
use std::collections::BTreeSet;
use std::time::Duration;
use stoa_bucket::{Attributes, Options};
use stoa_vfs::{Cookie, Error, Ino, Vfs};

/// `count` keys, some in directories.
async fn many(world: &World, count: usize) {
    let keys: Vec<_> = (0..count).map(|n| if n % 10 == 3 { format!("d{n}/x") } else { format!("f{n}") }).collect();
    for keys in keys.chunks(64) {
        futures::future::join_all(keys.iter().map(|key| world.put(key, "x"))).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attributes_of_all_cost_the_pages_of_the_listing() {
    let world = World::new(&patient()).await;
    many(&world, 2500).await;
    let (entries, cost) = world.cost(scan(world.files.as_ref(), Ino::ROOT, 300, true)).await;
    assert_eq!((entries.len(), cost), (2500, lists(3)));
    let looked = async {
        for entry in &entries {
            let found = world.files.lookup(Ino::ROOT, &entry.name).await.unwrap();
            assert_eq!(Some(found), entry.entry);
        }
        // None is known, too.
        assert_eq!(world.files.lookup(Ino::ROOT, &name("f-none")).await, Err(Error::NotFound));
        assert_eq!(world.files.lookup(Ino::ROOT, &name("zzz")).await, Err(Error::NotFound));
        scan(world.files.as_ref(), Ino::ROOT, 1000, false).await.len()
    };
    assert_eq!(world.cost(looked).await, (2500, FREE));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_attributes_of_objects_each_is_asked_once() {
    let world = World::new(&Options { attributes: Attributes::Objects, ..patient() }).await;
    many(&world, 200).await;
    let (entries, cost) = world.cost(scan(world.files.as_ref(), Ino::ROOT, 300, true)).await;
    assert_eq!((entries.len(), cost), (200, Cost { lists: 1, heads: 200, gets: 0 }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_cookie_resumes_also_when_pages_were_thrown_out() {
    // Room for less than a page.
    let options = Options { page_keys_max: Some(20), memory_bytes_max: 8 << 10, ..patient() };
    let world = World::new(&options).await;
    many(&world, 200).await;
    let all = scan(world.files.as_ref(), Ino::ROOT, 7, false).await;
    assert_eq!(all.iter().map(text).collect::<BTreeSet<_>>().len(), 200);
    for (at, entry) in all.iter().enumerate().step_by(9) {
        let page = world.files.readdir(Ino::ROOT, entry.cookie, 1000, false).await.unwrap();
        let next = all.get(at + 1).map(text);
        assert_eq!(page.entries.first().map(text), next);
    }
    // What is not at hand costs one page for many names, not two requests for each.
    let (_, cost) = world.cost(world.files.lookup(Ino::ROOT, &name("f10"))).await;
    assert_eq!(cost, lists(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_stays_is_listed_once_while_others_come_and_go() {
    for memory_bytes_max in [8 << 10, 64 << 20] {
        let world = World::new(&Options { page_keys_max: Some(10), memory_bytes_max, ..doubting() }).await;
        many(&world, 100).await;
        let mut seen = Vec::new();
        let mut after = Cookie::START;
        for round in 0.. {
            let page = world.files.readdir(Ino::ROOT, after, 3, false).await.unwrap();
            seen.extend(page.entries.iter().map(text));
            if page.end {
                break;
            }
            after = page.entries.last().unwrap().cookie;
            // Around the reader, and where it has been.
            world.put(&format!("f{round}-new"), "x").await;
            world.other.delete(&format!("f{}", round * 2), None, None).await.unwrap();
        }
        let deleted: BTreeSet<_> = (0..200).map(|n| format!("f{}", n * 2)).collect();
        for kept in (0..100).filter(|n| n % 10 != 3).map(|n| format!("f{n}")).filter(|name| !deleted.contains(name)) {
            assert_eq!(seen.iter().filter(|name| **name == kept).count(), 1, "{kept}");
        }
        assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), seen.len(), "listed twice");
    }
}

#[tokio::test]
async fn a_listing_is_believed_for_its_time() {
    let world = World::new(&Options { ttl: Duration::from_millis(400), ..patient() }).await;
    world.put("a", "x").await;
    assert_eq!(world.ls("").await, ["a"]);
    world.put("b", "x").await;
    tokio::time::sleep(Duration::from_millis(450)).await;
    assert_eq!(world.ls("").await, ["a", "b"]);

    let world = World::new(&doubting()).await;
    world.put("a", "x").await;
    assert_eq!(world.ls("").await, ["a"]);
    world.put("b", "x").await;
    assert_eq!(world.ls("").await, ["a", "b"]);
    assert_eq!(world.cost(world.stat("a")).await.1, lists(1));
}

#[tokio::test]
async fn directories_without_and_with_a_marker_are_alike() {
    let world = World::new(&patient()).await;
    world.put("implicit/x", "x").await;
    world.put("marked/", "").await;
    world.put("marked/x", "x").await;
    world.put("bare/", "").await;
    assert_eq!(world.ls("").await, ["bare", "implicit", "marked"]);
    assert_eq!((world.ls("implicit").await, world.ls("marked").await), (vec!["x".to_owned()], vec!["x".to_owned()]));
    assert!(world.ls("bare").await.is_empty());
    let (implicit, marked) = (world.stat("implicit").await.unwrap(), world.stat("marked").await.unwrap());
    assert_eq!((implicit.mode, implicit.mtime), (marked.mode, marked.mtime));
}

#[tokio::test]
async fn a_cookie_that_nobody_gave_is_refused() {
    let world = World::new(&patient()).await;
    world.put("a", "x").await;
    assert!(world.files.readdir(Ino::ROOT, Cookie(99), 10, false).await.is_err());
    world.ls("").await;
    assert!(world.files.readdir(Ino::ROOT, Cookie(5 << 35), 10, false).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_looks_at_one_name_after_the_other_goes_on_with_the_listing() {
    let world = World::new(&Options { ttl: Duration::from_millis(600), ..patient() }).await;
    many(&world, 100).await;
    assert_eq!(world.ls("").await.len(), 100);
    let looked = async {
        for n in 1..7 {
            tokio::time::sleep(Duration::from_millis(100)).await;
            world.stat(&format!("f{n}1")).await.unwrap();
        }
    };
    let (_, cost) = world.cost(looked).await;
    assert!(cost.heads == 0 && (1..=4).contains(&cost.lists), "{cost:?}");
}

/// Who is at a listing goes on with what was read before: it does not bring back what was changed here since.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_changed_here_since_is_listed_without_its_attributes() {
    let world = World::new(&patient()).await;
    world.put_all(&["a", "b", "c"]).await;
    let first = world.files.readdir(Ino::ROOT, Cookie::START, 1, true).await.unwrap();
    let names: Vec<_> = ["a", "b", "c"].into_iter().filter(|name| *name != text(&first.entries[0])).collect();
    let file = world.writer(world.ino(names[0]).await, true).await.unwrap();
    file.write(0, b"changed").await.unwrap();
    let ino = file.ino;
    file.close().await.unwrap();
    world.files.unlink(Ino::ROOT, &name(names[1])).await.unwrap();
    let rest = world.files.readdir(Ino::ROOT, first.entries[0].cookie, 10, true).await.unwrap();
    for entry in &rest.entries {
        assert_eq!(entry.entry, None, "{}", text(entry));
    }
    assert_eq!((rest.entries.len(), world.ino(names[0]).await), (2, ino));
    assert!(scan(world.files.as_ref(), Ino::ROOT, 10, true).await.iter().all(|entry| entry.entry.is_some()));
}
