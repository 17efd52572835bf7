//! Attributes: of the listing, of the objects, and of the options.

use crate::world::{World, patient, scan, stat};
use stoa_bucket::{Attributes, Options};
use stoa_objects::s3::limits::METADATA_BYTES_MAX;
use stoa_objects::testing::S3Fault;
use stoa_vfs::{Error, Ino, Kind, OpenFlags, SetAttr, SetTime, Timestamp, Vfs, WriteFlags, XattrMode};

fn options(attributes: Attributes) -> Options {
    Options { attributes, uid: 7, gid: 8, file_mode: 0o640, dir_mode: 0o750, ..patient() }
}

async fn plant(world: &World) {
    world.put("plain", "x").await;
    let s3fs = [("mode", "33261"), ("uid", "1000"), ("gid", "100"), ("mtime", "1609459200")];
    world.put_with("script", "x", &s3fs).await;
    world.put_with("link", "plain", &[("mode", "41471"), ("uid", "1000"), ("mtime", "1609459200")]).await;
    world.put_with("rclone", "x", &[("mtime", "1609459200.123456789")]).await;
    world.put_with("dir/", "", &[("mode", "16832"), ("uid", "1000"), ("gid", "100"), ("mtime", "1609459200")]).await;
    world.put("implicit/x", "x").await;
}

#[tokio::test]
async fn of_the_listing() {
    let world = World::new(&options(Attributes::Listing)).await;
    plant(&world).await;
    for path in ["plain", "script", "link", "rclone"] {
        let attr = world.stat(path).await.unwrap();
        assert_eq!((attr.kind, attr.mode, attr.uid, attr.gid), (Kind::Regular, 0o640, 7, 8), "{path}");
        assert!(attr.mtime.secs > 1_700_000_000 && attr.mtime.nanos == 0, "{path}: {:?}", attr.mtime);
    }
    let dir = world.stat("dir").await.unwrap();
    assert_eq!((dir.kind, dir.mode, dir.uid, dir.gid), (Kind::Directory, 0o750, 7, 8));
    same_however_they_are_asked(&world, Attributes::Listing).await;
}

#[tokio::test]
async fn of_the_objects() {
    let world = World::new(&options(Attributes::Objects)).await;
    plant(&world).await;
    let script = world.stat("script").await.unwrap();
    assert_eq!((script.kind, script.mode, script.uid, script.gid), (Kind::Regular, 0o755, 1000, 100));
    assert_eq!(script.mtime, Timestamp { secs: 1_609_459_200, nanos: 0 });
    assert_eq!(world.stat("rclone").await.unwrap().mtime, Timestamp { secs: 1_609_459_200, nanos: 123_456_789 });
    let plain = world.stat("plain").await.unwrap();
    assert_eq!((plain.mode, plain.uid, plain.gid), (0o640, 7, 8));
    let dir = world.stat("dir").await.unwrap();
    assert_eq!((dir.kind, dir.mode, dir.uid, dir.mtime.secs), (Kind::Directory, 0o700, 1000, 1_609_459_200));
    assert_eq!(world.stat("implicit").await.unwrap().mode, 0o750);
    same_however_they_are_asked(&world, Attributes::Objects).await;
}

/// By listing, and by name.
async fn same_however_they_are_asked(world: &World, attributes: Attributes) {
    let listed = scan(world.files.as_ref(), Ino::ROOT, 10, true).await;
    assert_eq!(listed.len(), 6);
    // Another mount, which has no listing: only its directories have another time.
    let other = world.again(&options(attributes));
    for entry in listed.iter().filter(|entry| entry.kind != Kind::Directory) {
        assert_eq!(Some(other.lookup(Ino::ROOT, &entry.name).await.unwrap()), entry.entry);
    }
}

#[tokio::test]
async fn symbolic_links_of_s3fs() {
    let world = World::new(&options(Attributes::Objects)).await;
    plant(&world).await;
    world.put_with("broken", "", &[("mode", "41471")]).await;
    let link = world.stat("link").await.unwrap();
    assert_eq!((link.kind, link.size), (Kind::Symlink, 5));
    assert_eq!(world.files.readlink(link.ino).await.unwrap(), "plain");
    assert!(matches!(world.files.readlink(world.ino("plain").await).await, Err(Error::Invalid(_))));
    assert!(matches!(world.files.readlink(world.ino("broken").await).await, Err(Error::Io(_))));
    assert!(world.cat("link").await.is_err(), "the kernel follows links; nobody opens one");
}

#[tokio::test]
async fn nothing_is_changed() {
    let world = World::new(&Options { read_only: true, ..options(Attributes::Listing) }).await;
    plant(&world).await;
    let files = &world.files;
    let plain = world.ino("plain").await;
    let write = stoa_vfs::OpenFlags { write: true, ..stoa_vfs::OpenFlags::default() };
    assert_eq!(files.open(plain, write).await, Err(Error::ReadOnly));
    assert_eq!(files.unlink(Ino::ROOT, &crate::world::name("plain")).await, Err(Error::ReadOnly));
    assert_eq!(files.setattr(plain, &SetAttr::default()).await, Err(Error::ReadOnly));
    assert!(files.cache_policy().read_only);
    assert_eq!(world.cat("plain").await.unwrap(), b"x");
}

#[tokio::test]
async fn tags_are_attributes_that_can_be_read() {
    let world = World::new(&options(Attributes::Listing)).await;
    world.put("file", "x").await;
    let tags = [("team", "blue"), ("a b", "c=d")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    world.other.put_tags("file", &tags.into()).await.unwrap();
    let (ino, files) = (world.ino("file").await, &world.files);
    assert_eq!(files.getxattr(ino, b"user.s3.tag.team").await.unwrap(), "blue");
    assert_eq!(files.getxattr(ino, b"user.s3.tag.a b").await.unwrap(), "c=d");
    assert_eq!(files.getxattr(ino, b"user.s3.tag.none").await, Err(Error::NoAttribute));
    let names = files.listxattr(ino).await.unwrap();
    assert!(names.iter().any(|name| name == "user.s3.tag.team") && names.iter().any(|name| name == "user.s3.etag"));
    // What files have none of costs nothing.
    let (asked, cost) = world.cost(files.getxattr(ino, b"system.posix_acl_access")).await;
    assert!(matches!(asked, Err(Error::Unsupported(_))), "{asked:?}: `ls -l` asks of every file, unless it is told so");
    assert_eq!(cost, crate::world::FREE);
    let set = files.setxattr(ino, b"user.s3.tag.team", "red".into(), XattrMode::Set, false).await;
    assert_eq!(set, Err(Error::NotPermitted));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_of_an_object_too_long_for_one_copy_are_changed_in_parts() {
    let world = World::new(&Options { copy_bytes_max: 20 << 20, ..options(Attributes::Objects) }).await;
    let content: Vec<u8> = (0..33 << 20).map(|at: u32| (at >> 12) as u8 ^ at as u8).collect();
    world.put_with("file", &content, &[("by", "somebody")]).await;
    let tags = std::collections::BTreeMap::from([("a b".to_owned(), "c&d".to_owned())]);
    world.other.put_tags("file", &tags).await.unwrap();
    let (ino, files) = (world.ino("file").await, &world.files);
    files.setattr(ino, &SetAttr { mode: Some(0o600), ..SetAttr::default() }).await.unwrap();
    files.setxattr(ino, b"user.color", "blue".into(), XattrMode::Set, false).await.unwrap();
    assert_eq!(world.stat("file").await.unwrap().mode, 0o600);
    assert!(world.object("file").await.unwrap() == content && world.cat("file").await.unwrap() == content);
    let info = world.other.head("file", None).await.unwrap();
    let metadata = ["by", "color", "mode"].map(|name| info.headers.metadata[name].as_str());
    assert_eq!(metadata, ["somebody", "blue", "33152"]);
    assert!(info.etag.unwrap().ends_with("-6\""), "in parts of 5 MiB at least");
    assert_eq!(world.other.get_tags("file").await.unwrap(), tags);
    // One that fails leaves nothing, and the file as it was.
    world.server.faults.next("PUT", "partNumber=3", S3Fault::Status(403));
    let refused = files.setxattr(ino, b"user.color", "red".into(), XattrMode::Set, false).await;
    assert_eq!((refused, world.server.uploads_open("bucket")), (Err(Error::Denied), 0));
    assert_eq!(files.getxattr(ino, b"user.color").await.unwrap(), "blue");
    // Nor is what somebody else has written meanwhile replaced.
    world.put("file", vec![1; 33 << 20]).await;
    let stale = files.setxattr(ino, b"user.color", "red".into(), XattrMode::Set, false).await;
    assert_eq!((stale, world.server.uploads_open("bucket")), (Err(Error::Stale), 0));
    assert!(world.object("file").await.unwrap() == vec![1; 33 << 20]);
}

#[tokio::test]
async fn extended_attributes_of_a_directory_are_those_of_its_marker() {
    for attributes in [Attributes::Listing, Attributes::Objects] {
        let world = World::new(&options(attributes)).await;
        plant(&world).await;
        let files = &world.files;
        let set = async |path: &str, value: &'static str, mode| {
            files.setxattr(world.ino(path).await, b"user.color", value.into(), mode, false).await
        };
        // One that says something, and one that is there because of what is in it.
        let before = world.stat("implicit").await.unwrap();
        assert_eq!(set("implicit", "red", XattrMode::Replace).await, Err(Error::NoAttribute));
        assert_eq!(files.removexattr(before.ino, b"user.color").await, Err(Error::NoAttribute));
        assert!(!world.keys().await.contains(&"implicit/".to_owned()), "what fails makes no marker");
        for path in ["dir", "implicit"] {
            set(path, "blue", XattrMode::Create).await.unwrap();
            assert_eq!(set(path, "red", XattrMode::Create).await, Err(Error::Exists));
            let ino = world.ino(path).await;
            assert_eq!(files.getxattr(ino, b"user.color").await.unwrap(), "blue");
            assert!(files.listxattr(ino).await.unwrap().iter().any(|name| name == "user.color"));
            let marker = world.other.head(&format!("{path}/"), None).await.unwrap();
            assert_eq!((marker.size, marker.headers.metadata["color"].as_str()), (0, "blue"), "{path}");
        }
        let marker = world.other.head("dir/", None).await.unwrap();
        assert_eq!(
            (marker.headers.metadata["mode"].as_str(), marker.headers.metadata["uid"].as_str()),
            ("16832", "1000")
        );
        let after = world.stat("implicit").await.unwrap();
        assert_eq!((after.ino, after.mode, after.mtime), (before.ino, before.mode, before.mtime));
        files.removexattr(after.ino, b"user.color").await.unwrap();
        assert_eq!(files.getxattr(after.ino, b"user.color").await, Err(Error::NoAttribute));
        // That of all keys has no marker, nor has one with content attributes that can be set.
        assert!(matches!(set("", "x", XattrMode::Set).await, Err(Error::Unsupported(_))));
        world.put("full/", "content").await;
        assert!(matches!(set("full", "x", XattrMode::Set).await, Err(Error::Unsupported(_))));
    }
}

/// A write carries a tag of its own, and that of a rename of a directory is longer: S3 counts them with what was set.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_carried_leaves_room_for_what_a_write_adds() {
    let world = World::new(&Options { attributes: Attributes::Objects, ..patient() }).await;
    let room = METADATA_BYTES_MAX - "stoaputid".len() - 64;
    let set = async |ino, name: &str, len: usize| {
        let value = "x".repeat(len).into();
        world.files.setxattr(ino, format!("user.{name}").as_bytes(), value, XattrMode::Set, false).await
    };
    let file = world.create("file").await;
    file.write(0, b"content").await.unwrap();
    let taken: usize = {
        file.flush().await.unwrap();
        let carried = world.other.head("file", None).await.unwrap().headers.metadata;
        carried.iter().map(|(name, value)| name.len() + value.len()).sum()
    };
    for stored in [true, false] {
        assert_eq!(set(file.ino, "big", room).await, Err(Error::ValueTooLarge));
        assert_eq!(set(file.ino, "big", room - taken - 2).await, Err(Error::NoSpace));
        set(file.ino, "big", room - taken - 3).await.unwrap();
        assert_eq!(set(file.ino, "stoaputid", 1).await, Err(Error::NotPermitted));
        if stored {
            file.write(0, b"changed").await.unwrap();
        }
    }
    // A time with a fraction is longer.
    let time = Timestamp { secs: 1_000_000_000, nanos: 5 };
    let touch = SetAttr { mtime: Some(SetTime::At(time)), ..SetAttr::default() };
    assert_eq!(world.files.setattr(file.ino, &touch).await, Err(Error::NoSpace));
    file.close().await.unwrap();
    assert_eq!(world.object("file").await.unwrap(), b"changed");
    assert_eq!(world.files.setattr(world.ino("file").await, &touch).await.err(), Some(Error::NoSpace));

    // What somebody else has put there may be more.
    for (len, writable) in [(METADATA_BYTES_MAX - 41, true), (METADATA_BYTES_MAX - 40, false)] {
        world.put_with("theirs", "theirs", &[("a", &"x".repeat(len - 1))]).await;
        let files = world.again(&patient());
        let ino = stat(files.as_ref(), "theirs").await.unwrap().ino;
        let opened = files.open(ino, OpenFlags { write: true, ..OpenFlags::default() }).await;
        assert_eq!(opened.is_ok(), writable, "{opened:?}");
    }
}

/// As the kernel asks for it when somebody without privileges changes a program.
#[tokio::test]
async fn who_changes_a_program_takes_its_set_uid() {
    let world = World::new(&options(Attributes::Objects)).await;
    let how = WriteFlags { clear_privileges: true, ..WriteFlags::default() };
    let opened = OpenFlags { write: true, ..OpenFlags::default() };
    let emptied = OpenFlags { truncate: true, clear_privileges: true, ..opened };
    let cut = SetAttr { size: Some(1), clear_privileges: true, ..SetAttr::default() };
    for (name, flags) in [("written", opened), ("emptied", emptied), ("cut", opened)] {
        // Regular, 06755.
        world.put_with(name, "program", &[("mode", "36333")]).await;
        let (files, ino) = (&world.files, world.ino(name).await);
        assert_eq!(world.stat(name).await.unwrap().mode, 0o6755);
        if name == "cut" {
            files.setattr(ino, &cut).await.unwrap();
        } else {
            let handle = files.open(ino, flags).await.unwrap();
            if name == "written" {
                files.write(ino, handle, 0, "x".into(), how).await.unwrap();
            }
            assert_eq!(files.entry(ino).await.unwrap().attr.mode, 0o755, "{name}");
            files.flush(ino, handle).await.unwrap();
            files.release(ino, handle).await;
        }
        let stored = world.other.head(name, None).await.unwrap().headers.metadata;
        assert_eq!(stored.get("mode").map(String::as_str), Some("33261"), "{name}");
    }
}
