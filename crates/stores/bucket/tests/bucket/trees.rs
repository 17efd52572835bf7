//! Directories get other names, with all that is in them.

use crate::renames::mv;
use crate::world::{World, doubting, name, patient};
use std::sync::Arc;
use std::time::Duration;
use stoa_bucket::Options;
use stoa_objects::testing::S3Fault;
use stoa_vfs::{Cookie, Error, Ino, Node, OpenFlags, Result, Vfs};

/// Pages of three keys.
fn paged() -> Options {
    Options { page_keys_max: Some(3), ..patient() }
}

async fn plant(world: &World, count: usize) -> Vec<String> {
    let rest: Vec<_> = (0..count).map(|n| format!("{}f{n}", if n % 3 == 0 { "sub/" } else { "" })).collect();
    for rest in &rest {
        world.put(&format!("old/{rest}"), rest).await;
    }
    rest
}

async fn expect(world: &World, directory: &str, rest: &[String]) {
    let mut keys: Vec<_> = rest.iter().map(|rest| format!("{directory}/{rest}")).collect();
    keys.sort();
    assert_eq!(world.keys().await, keys);
    for rest in rest {
        assert_eq!(world.object(&format!("{directory}/{rest}")).await.unwrap(), rest.as_bytes());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_moves_with_all_that_is_in_it() {
    let world = World::new(&paged()).await;
    let rest = plant(&world, 50).await;
    let (dir, sub, file) = (world.ino("old").await, world.ino("old/sub").await, world.ino("old/sub/f3").await);
    assert_eq!(world.ls("old/sub").await.len(), 17);
    let reading = world.files.open(file, OpenFlags::default()).await.unwrap();
    let unstored = world.create("old/unstored").await;
    unstored.write(0, b"unstored").await.unwrap();
    mv(&world, "old", "new").await.unwrap();
    assert_eq!(world.ls("").await, ["new"]);
    assert_eq!((world.ino("new").await, world.ino("new/sub").await), (dir, sub), "the same directories");
    assert_eq!(world.ino("new/sub/f3").await, file, "the same file");
    assert_eq!(world.files.read(file, reading, 0, 100).await.unwrap().concat(), b"sub/f3");
    assert_eq!(world.files.parent(sub).await.unwrap(), dir);
    unstored.write(8, b" no more").await.unwrap();
    unstored.close().await.unwrap();
    assert_eq!(world.object("new/unstored").await.unwrap(), b"unstored no more");
    world.other.delete("new/unstored", None, None).await.unwrap();
    expect(&world, "new", &rest).await;
    assert_eq!(world.files.status().renames, []);
    // And back over an empty one.
    world.make("old", Node::Directory).await.unwrap();
    mv(&world, "new", "old").await.unwrap();
    assert_eq!((world.ls("").await, world.ls("old").await.len()), (vec!["old".to_owned()], 34));
}

/// How many entries there are.
async fn list(world: &World, dir: Ino) -> Result<usize> {
    let (mut count, mut after) = (0, Cookie::START);
    loop {
        let page = world.files.readdir(dir, after, 10, true).await?;
        count += page.entries.len();
        after = page.entries.last().map_or(after, |entry| entry.cookie);
        if page.end {
            return Ok(count);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_name_is_seen_once_all_the_time() {
    let world = Arc::new(World::new(&Options { ttl: Duration::ZERO, ..paged() }).await);
    plant(&world, 40).await;
    for part in ["new", "old"] {
        world.server.faults.each(
            if part == "new" { "PUT" } else { "DELETE" },
            part,
            S3Fault::Delay(Duration::from_millis(5)),
        );
    }
    let moving = tokio::spawn({
        let world = Arc::clone(&world);
        async move { mv(&world, "old", "new").await }
    });
    let (mut seen, mut old, mut new, mut begun_again) = (Vec::new(), 0, 0, 0);
    while !moving.is_finished() {
        let names = world.ls("").await;
        if names == ["old"] {
            old += 1
        } else {
            new += 1
        }
        if let Ok(dir) = world.stat(&names[0]).await {
            // It may have got its new name just now.
            let listed = list(&world, dir.ino).await;
            assert!(
                listed.as_ref().is_ok_and(|count| *count == 27) || matches!(listed, Err(Error::Io(_))),
                "{listed:?}"
            );
            begun_again += u32::from(listed.is_err());
        }
        if seen.last() != Some(&names) {
            seen.push(names);
        }
    }
    moving.await.unwrap().unwrap();
    assert!(old > 0 && new > 0 && begun_again <= 1, "{old} times old, {new} times new, {begun_again} times cut");
    assert_eq!(seen, [["old"], ["new"]]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_others_change_meanwhile_is_not_lost() {
    let world = Arc::new(World::new(&paged()).await);
    plant(&world, 20).await;
    // After the copies, before the removals.
    world.server.faults.next("PUT", ".stoa-rename-", S3Fault::Delay(Duration::ZERO));
    world.server.faults.next("PUT", ".stoa-rename-", S3Fault::Delay(Duration::from_millis(500)));
    let moving = tokio::spawn({
        let world = Arc::clone(&world);
        async move { mv(&world, "old", "new").await }
    });
    while world.object("new/sub/f9").await.is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    world.put("old/f1", "changed").await;
    world.put("old/another", "added").await;
    world.other.delete("old/f2", None, None).await.unwrap();
    moving.await.unwrap().unwrap();
    assert!(world.keys().await.iter().all(|key| key.starts_with("new/")), "{:?}", world.keys().await);
    assert_eq!(world.object("new/f1").await.unwrap(), b"changed");
    assert_eq!(world.object("new/another").await.unwrap(), b"added");
    assert_eq!(world.ls("new").await.len(), 15, "what was copied before it was removed is there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_rename_leaves_everything_as_it_was() {
    let world = World::new(&paged()).await;
    let rest = plant(&world, 20).await;
    world.server.faults.each("PUT", "new/f8", S3Fault::Status(403));
    assert_eq!(mv(&world, "old", "new").await, Err(Error::Denied));
    expect(&world, "old", &rest).await;
    assert_eq!(world.ls("").await, ["old"]);
    assert_eq!(world.cat("old/f1").await.unwrap(), b"f1");
    world.server.faults.end_each();
    // Without the right to remove nothing is copied.
    world.server.faults.each("DELETE", "/old/", S3Fault::Status(403));
    let before = world.files.s3().meter().counts();
    assert_eq!(mv(&world, "old", "new").await, Err(Error::Denied));
    assert_eq!(world.files.s3().meter().counts().since(&before).of(stoa_objects::Verb::Copy), 0);
    world.server.faults.end_each();
    // Nor where keys get too long.
    let long = "x".repeat(250);
    let deep = format!("old/{long}/{long}/{long}/{long}");
    world.put(&deep, "deep").await;
    assert_eq!(mv(&world, "old", &"n".repeat(100)).await, Err(Error::NameTooLong));
    assert_eq!(world.keys().await.len(), 21);
}

/// A rename of which the process dies: when the server gives no answer any more from some request on.
async fn die_after(world: &World, requests: u64, from: &str, to: &str) {
    let died = world.again(&paged());
    let (from, to) = (name(from), name(to));
    let renaming =
        tokio::spawn(async move { died.rename(Ino::ROOT, &from, Ino::ROOT, &to, stoa_vfs::RenameMode::Replace).await });
    let start = world.server.faults.requests();
    while world.server.faults.requests() < start + requests && !renaming.is_finished() {
        tokio::task::yield_now().await;
    }
    renaming.abort();
    let _ = renaming.await;
    // What was on its way may still arrive.
    tokio::time::sleep(Duration::from_millis(30)).await;
}

/// Has journals say that another process of this machine wrote them, which is gone.
async fn orphan(world: &World) -> bool {
    let keys = world.keys().await;
    let Some(key) = keys.iter().find(|key| key.contains(".stoa-rename-")) else { return false };
    let text = String::from_utf8(world.object(key).await.unwrap()).unwrap();
    let pid = std::process::id();
    world.put(key, text.replace(&format!("\"pid\":{pid}"), "\"pid\":4194999")).await;
    true
}

async fn until(what: &str, mut done: impl AsyncFnMut() -> bool) {
    for _ in 0..2000 {
        if done().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{what}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_mounts_next_goes_on() {
    let mut resumed = 0;
    for requests in [1, 6, 12, 20, 35, 60, 80, 100, 120, 140] {
        let world = World::new(&paged()).await;
        let rest = plant(&world, 25).await;
        die_after(&world, requests, "old", "new").await;
        resumed += u32::from(orphan(&world).await);
        let files = world.again(&paged());
        files.resume().await.unwrap();
        // From the start each name is there once.
        let names = crate::world::scan(files.as_ref(), Ino::ROOT, 10, false).await;
        assert_eq!(names.len(), 1, "after {requests} requests: {names:?}");
        until("it is finished", async || files.status().renames.is_empty()).await;
        // The first request of the one that died may have come to the server after that.
        while orphan(&world).await {
            let files = world.again(&paged());
            files.resume().await.unwrap();
            until("it is finished", async || files.status().renames.is_empty()).await;
        }
        let done = if world.keys().await[0].starts_with("old/") { "old" } else { "new" };
        expect(&world, done, &rest).await;
    }
    assert!(resumed > 3, "{resumed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rename_elsewhere_is_left_alone_until_nothing_is_heard_of_it() {
    let lease = Duration::from_millis(400);
    let world = World::new(&Options { rename_lease: lease, ..paged() }).await;
    let rest = plant(&world, 10).await;
    let elsewhere = |beat: u32| {
        format!(
            r#"{{"version":1,"from":"old/","to":"new/","replaces":false,"phase":"copying","owner":{{"machine":"other","pid":1,"started":1}},"beat":{beat}}}"#
        )
    };
    let journal = format!(".stoa-rename-{}", "0".repeat(32));
    world.put(&journal, elsewhere(1)).await;
    assert_eq!(world.ls("").await, ["old"], "a journal is no file");
    assert_eq!(world.stat(&journal).await.err(), Some(Error::NotFound));
    world.files.resume().await.unwrap();
    for beat in 2..6 {
        tokio::time::sleep(lease / 2).await;
        world.put(&journal, elsewhere(beat)).await;
        assert_eq!(world.keys().await.len(), 11, "somebody is at it");
    }
    until("it is taken over", async || !world.keys().await.contains(&journal)).await;
    expect(&world, "new", &rest).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_somebody_else_put_there_is_not_replaced() -> Result<()> {
    let world = World::new(&doubting()).await;
    plant(&world, 5).await;
    let journal = format!(".stoa-rename-{}", "0".repeat(32));
    let record = r#"{"version":1,"from":"old/","to":"new/","replaces":false,"phase":"copied","owner":{"machine":"","pid":1,"started":1},"beat":1}"#;
    world.put("new/f1", "of somebody else").await;
    world.put("new/f2", "f2").await;
    world.put(&journal, record).await;
    let files = world.again(&Options { rename_lease: Duration::from_millis(50), ..doubting() });
    files.resume().await.unwrap();
    until("it is finished", async || !world.keys().await.contains(&journal)).await;
    assert_eq!(world.object("new/f1").await.unwrap(), b"of somebody else");
    assert_eq!(world.keys().await, ["new/f1", "new/f2", "new/f4", "new/sub/f0", "new/sub/f3", "old/f1"]);
    assert_eq!(world.cat("old/f1").await?, b"f1");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_word_that_does_not_get_through_does_not_end_it() {
    let lease = Duration::from_millis(200);
    let world = World::new(&Options { rename_lease: lease, ..paged() }).await;
    let rest = plant(&world, 6).await;
    // The first word is that it begins. Copies take so long that several follow.
    world.server.faults.next("PUT", ".stoa-rename-", S3Fault::Delay(Duration::ZERO));
    for status in [403, 403, 400] {
        world.server.faults.next("PUT", ".stoa-rename-", S3Fault::Status(status));
    }
    world.server.faults.each("PUT", "/new/", S3Fault::Delay(lease));
    mv(&world, "old", "new").await.unwrap();
    assert_eq!(world.server.faults.pending(), 0, "several words did not get through");
    expect(&world, "new", &rest).await;
}

/// Who may only write below what is mounted may write journals, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_journal_that_leads_out_of_what_is_mounted_is_left_alone() {
    let world = World::below("p/", &Options { rename_lease: Duration::from_millis(100), ..paged() }).await;
    world.put_all(&["p/old/file", "p/other/file", "secret/file"]).await;
    let ways =
        [("secret/", "p/loot/"), ("p/other/", "loot/"), ("p/", "loot/"), ("secret/", "p/"), ("p/old/", "p/new/")];
    let journal = |n: usize| format!("p/.stoa-rename-{n:032}");
    for (n, (from, to)) in ways.iter().enumerate() {
        let record = format!(
            r#"{{"version":1,"from":"{from}","to":"{to}","replaces":false,"phase":"copying","owner":{{"machine":"","pid":1,"started":1}},"beat":1}}"#
        );
        world.put(&journal(n), record).await;
    }
    world.files.resume().await.unwrap();
    until("that within it is finished", async || !world.keys().await.contains(&journal(4))).await;
    until("nothing else goes on", async || world.files.status().renames.is_empty()).await;
    let others = world.keys().await.into_iter().filter(|key| !key.contains(".stoa-rename-"));
    assert_eq!(others.collect::<Vec<_>>(), ["p/new/file", "p/other/file", "secret/file"]);
    assert_eq!(world.keys().await.len(), 7, "the journals stay");
}
