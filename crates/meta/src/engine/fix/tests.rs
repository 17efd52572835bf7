use crate::engine::tests::{engine, file, name};
use crate::{Fix, Meta, Totals};
use stoa_vfs::{Caller, Cookie, Ino, Make, Node};

#[tokio::test]
async fn counts_of_a_scan_do_not_undo_what_naming_adds() {
    let engine = engine().await;
    let lost = file(&engine, "a").await;
    engine.unlink(Ino::ROOT, &name("a")).await.unwrap();
    let totals = Totals { data_bytes: 0, inodes: 2 };
    engine
        .fix(&[Fix::Unnamed(lost), Fix::Totals(totals), Fix::Entries(Ino::ROOT, 0), Fix::Links(Ino::ROOT, 2)])
        .await
        .unwrap();
    let root = engine.attr(Ino::ROOT).await.unwrap();
    assert_eq!(root.nlink, 3);
    assert_eq!(engine.totals().inodes, 3);
    assert_eq!(engine.attr(lost).await.unwrap().nlink, 1);
}

#[tokio::test]
async fn a_taken_name_gets_a_number() {
    let engine = engine().await;
    file(&engine, "lost+found").await;
    let lost = file(&engine, "a").await;
    let make = |node| Make { node, mode: 0o700, umask: 0 };
    let found = engine.make(Caller::ROOT, Ino::ROOT, &name("lost+found.1"), &make(Node::Directory)).await.unwrap().ino;
    engine.make(Caller::ROOT, found, &name(&lost.to_string()), &make(Node::Regular)).await.unwrap();
    engine.unlink(Ino::ROOT, &name("a")).await.unwrap();
    engine.fix(&[Fix::Unnamed(lost)]).await.unwrap();
    assert_eq!(engine.lookup(found, &name(&format!("{lost}.1"))).await.unwrap().ino, lost);
    assert_eq!(engine.readdir(found, Cookie(0), 10, true).await.unwrap().entries.len(), 2);
}
