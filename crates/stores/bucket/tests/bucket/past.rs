//! A bucket as it was at a time.

use crate::world::{World, doubting, name, patient, scan};
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};
use stoa_bucket::{Attributes, Options};
use stoa_vfs::{Error, Ino, Vfs};

/// Longer than times of versions are exact to.
const APART: Duration = Duration::from_millis(20);

async fn kept(options: &Options) -> World {
    let world = World::new(options).await;
    world.server.keep_versions("bucket");
    world
}

/// A time after all that was done, and before all that is done next.
async fn between() -> SystemTime {
    tokio::time::sleep(APART).await;
    let now = SystemTime::now();
    tokio::time::sleep(APART).await;
    now
}

fn at(world: World, time: SystemTime, options: Options) -> World {
    let files = world.again(&Options { at: Some(time), ..options });
    World { files, ..world }
}

async fn names(world: &World, dir: &str) -> BTreeSet<String> {
    let entries = scan(world.files.as_ref(), world.ino(dir).await, 7, true).await;
    entries.iter().map(|entry| entry.name.to_string()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn small_pages_make_up_a_directory_that_was() {
    let world = kept(&patient()).await;
    let keys: Vec<String> = (0..40).map(|n| if n % 4 == 0 { format!("d{n}/x") } else { format!("f{n}") }).collect();
    world.put_all(&keys).await;
    let time = between().await;
    for key in &keys {
        if key.starts_with('d') {
            world.other.delete(key, None, None).await.unwrap();
        }
        world.put(&format!("{key}-later"), "x").await;
        world.put(&format!("{key}/later"), "x").await;
    }
    let world = at(world, time, Options { page_keys_max: Some(3), ..doubting() });
    let expected: BTreeSet<String> = keys.iter().map(|key| key.trim_end_matches("/x").to_owned()).collect();
    assert_eq!(names(&world, "").await, expected);
    assert_eq!(names(&world, "d4").await, BTreeSet::from(["x".to_owned()]));
    // By name, too.
    assert_eq!(world.files.lookup(Ino::ROOT, &name("f1-later")).await, Err(Error::NotFound));
    assert!(world.files.lookup(Ino::ROOT, &name("f1")).await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn content_and_attributes_are_those_of_then() {
    let world = kept(&patient()).await;
    world.put_with("f", "as it was", &[("mode", "33152")]).await;
    world.put("deleted", "before").await;
    let time = between().await;
    world.put_with("f", "and as it is", &[("mode", "33188")]).await;
    world.other.delete("deleted", None, None).await.unwrap();
    let world = at(world, time, Options { attributes: Attributes::Objects, ..patient() });
    assert_eq!(world.cat("f").await.unwrap(), b"as it was");
    assert_eq!(world.cat("deleted").await.unwrap(), b"before");
    assert_eq!(world.stat("f").await.unwrap().mode, 0o600);
}
