use crate::engine::tests::{ROOT, file, name, open};
use crate::engine::{Engine, testing};
use crate::record::{Bucket, Inode, RecordKey, Superblock};
use crate::{Extent, Meta, SegmentId, SegmentUse, Visit};
use bytes::Bytes;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use std::sync::Arc;
use stoa_vfs::{ACL_ACCESS, Ino, Kind, Name, XattrMode};

/// What was heard: kinds of records in order, each once, and what is wrong.
#[derive(Debug, Default)]
struct Heard {
    order: String,
    xattrs: Vec<(Ino, Vec<u8>, u8)>,
    unreadable: Vec<String>,
    wrong: Vec<String>,
}

impl Heard {
    fn kind(&mut self, kind: char) {
        if !self.order.ends_with(kind) {
            self.order.push(kind);
        }
    }
}

impl Visit for Heard {
    fn orphan(&mut self, _: Ino) {
        self.kind('o');
    }
    fn inode(&mut self, _: Ino, _: &Inode) {
        self.kind('i');
    }
    fn xattr(&mut self, ino: Ino, name: &[u8], flags: u8) {
        self.kind('x');
        self.xattrs.push((ino, name.to_vec(), flags));
    }
    fn dentry(&mut self, _: Ino, _: &Name, _: Ino, _: Kind) {
        self.kind('d');
    }
    fn extent(&mut self, _: Ino, _: &Extent) {
        self.kind('e');
    }
    fn segment(&mut self, _: &SegmentUse) {
        self.kind('s');
    }
    fn shared(&mut self, _: SegmentId, _: Ino) {
        self.kind('r');
    }
    fn superblock(&mut self, _: &Superblock) {
        self.kind('t');
    }
    fn unreadable(&mut self, what: String) {
        self.unreadable.push(what);
    }
    fn wrong(&mut self, what: String) {
        self.wrong.push(what);
    }
}

async fn heard(store: &Arc<dyn ObjectStore>) -> Heard {
    let engine = open(store).await;
    let mut heard = Heard::default();
    engine.visit(&mut heard).await.unwrap();
    heard
}

/// A namespace with file `a`, and these records beside it.
async fn planted(changes: Vec<(RecordKey, Option<Bytes>)>) -> Arc<dyn ObjectStore> {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    Engine::format(Arc::clone(&store), ROOT).await.unwrap();
    let engine = open(&store).await;
    file(&engine, "a").await;
    engine.close().await.unwrap();
    testing::plant(Arc::clone(&store), changes).await.unwrap();
    store
}

fn one() -> Option<Bytes> {
    Some(Bytes::from_static(&[1]))
}

#[tokio::test]
async fn kinds_are_heard_in_order_and_attributes_with_their_flags() {
    let store = planted(vec![
        (RecordKey::Orphan(Ino(9)), one()),
        (RecordKey::Shared(SegmentId(3), Ino(9)), one()),
        (RecordKey::Xattr(Ino(2), Bytes::from_static(b"user.a")), one()),
        (RecordKey::Xattr(Ino(2), Bytes::from_static(b"security.capability")), one()),
    ])
    .await;
    let heard = heard(&store).await;
    assert_eq!(heard.order, "oixdrt");
    let capability = (Ino(2), b"security.capability".to_vec(), Inode::XATTR | Inode::CAPABILITY);
    assert_eq!(heard.xattrs, [capability, (Ino(2), b"user.a".to_vec(), Inode::XATTR)]);
    assert!(heard.wrong.is_empty() && heard.unreadable.is_empty(), "{heard:?}");
}

#[tokio::test]
async fn more_attributes_than_a_page_are_all_heard() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    Engine::format(Arc::clone(&store), ROOT).await.unwrap();
    let engine = open(&store).await;
    for number in 0..600 {
        let name = format!("user.{number}");
        engine.setxattr(Ino::ROOT, name.as_bytes(), Bytes::new(), XattrMode::Set, false).await.unwrap();
    }
    engine.close().await.unwrap();
    assert_eq!(heard(&store).await.xattrs.len(), 600);
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_told_of() {
    let store = planted(vec![(RecordKey::Inode(Ino(7)), Some(Bytes::from_static(&[9])))]).await;
    let heard = heard(&store).await;
    assert_eq!(heard.unreadable.len(), 1, "{heard:?}");
    assert!(heard.unreadable[0].contains("unknown version"), "{heard:?}");
}

#[tokio::test]
async fn an_acl_that_is_none_and_a_name_that_cannot_be_are_wrong() {
    let store = planted(vec![
        (RecordKey::Xattr(Ino(2), Bytes::from_static(ACL_ACCESS)), one()),
        (RecordKey::Xattr(Ino(2), Bytes::from_static(b"other.a")), one()),
    ])
    .await;
    let heard = heard(&store).await;
    assert_eq!(
        heard.wrong,
        [
            "inode 2 has an attribute other.a, and no attribute can be called so",
            "the attribute system.posix_acl_access of inode 2 is no ACL",
        ]
    );
}

#[tokio::test]
async fn a_bucket_under_the_hash_of_another_name_is_wrong() {
    let bucket = Bucket::default().with(&name("stray"), Ino(2), Kind::Regular).unwrap();
    let store = planted(vec![(RecordKey::Bucket(Ino::ROOT, 77), bucket.encode())]).await;
    let wrong = heard(&store).await.wrong;
    assert_eq!(wrong, [r#""stray" in directory 1 is kept under the hash of another name, and is not found"#]);
}

#[tokio::test]
async fn slots_and_names_of_a_bucket_occur_once_and_in_order() {
    let hash = {
        let engine = open(&planted(Vec::new()).await).await;
        engine.0.hash(&name("a"))
    };
    let good = Bucket::default().with(&name("a"), Ino(2), Kind::Regular).unwrap();
    let mut bucket = good.clone();
    bucket.dentries.push(good.dentries[0].clone());
    let store = planted(vec![(RecordKey::Bucket(Ino::ROOT, hash), bucket.encode())]).await;
    let wrong = heard(&store).await.wrong;
    assert_eq!(
        wrong,
        [r#""a" is in directory 1 twice"#, r#""a" in directory 1 has slot 0 after a greater one, or a second time"#,]
    );
}
