//! Objects that the server encrypts with a key that only its user has (SSE-C).

use crate::setting::pattern;
use anyhow::{Context, Result, ensure};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stoa_objects::s3::Encryption;
use stoa_tests::command::{not_run, shell};
use stoa_tests::{Objects, Place, Setup, StoreKind, in_place, scale, tools};

const LIMIT: Duration = Duration::from_secs(120);

/// A file with a key, that nobody else can read.
fn key_file(place: &Place, name: &str, byte: u8) -> Result<PathBuf> {
    let file = place.scratch().join(name);
    std::fs::write(&file, [byte; 32])?;
    std::fs::set_permissions(&file, Permissions::from_mode(0o600))?;
    Ok(file)
}

fn mounted(place: &mut Place, key: &Path, more: &[&str]) -> Result<()> {
    let key = key.to_str().context("not UTF-8")?;
    place.mount(&[&["--objects", "--sse", "c", "--sse-key-file", key, "--attributes", "objects"], more].concat())
}

fn is_sealed(objects: &Objects, key: &str) -> Result<bool> {
    Ok(objects.headers(key).with_context(|| key.to_owned())?.storage.encryption == Some(Encryption::Customer))
}

/// The servers that know such keys: the one in this process, and `MinIO`, if it is installed, which takes them over TLS only.
fn servers() -> impl Iterator<Item = StoreKind> {
    [StoreKind::S3s].into_iter().chain(tools::installed("minio").map(|_| StoreKind::MinioTls))
}

/// Runs a test over an empty bucket on each of them.
fn on_servers(name: &'static str, test: impl Fn(&mut Place) -> Result<()>) -> Result<()> {
    over_each(Setup::new(name).empty(), test)
}

fn over_each(setup: Setup, test: impl Fn(&mut Place) -> Result<()>) -> Result<()> {
    let setup = setup.limit(scale::minutes(3, 10));
    servers().try_for_each(|store| in_place(setup.store(store), &test).with_context(|| format!("on {store:?}")))
}

#[test]
fn all_that_is_made_is_encrypted_with_the_key_and_all_of_it_works() -> Result<()> {
    on_servers("sse-c", |place| {
        let key = key_file(place, "key", 7)?;
        let (with, without) = (Objects::with_key(place.store()?, &key)?, Objects::of(place.store()?)?);
        mounted(place, &key, &["--ttl", "0"])?;
        let large = pattern(3, 20 << 20);
        std::fs::write(place.path("small"), "content")?;
        std::fs::write(place.path("large"), &large)?;
        let script = r#"
            mkdir dir; ln -s small link; cp small dir/a; cp large dir/b
            echo more >> small
            # In place: the server copies what stays.
            printf X | dd of=large bs=1 seek=9000000 conv=notrunc status=none
            chmod 0640 small
            mv dir moved; mv small renamed
            python3 -c 'import os; os.setxattr("renamed", "user.by", b"me")'
        "#;
        shell(script, place.dir(), LIMIT)?;
        let mut changed = large.clone();
        *changed.get_mut(9_000_000).context("too short")? = b'X';
        for (name, content) in [
            ("renamed", b"contentmore\n".to_vec()),
            ("large", changed),
            ("moved/a", b"content".to_vec()),
            ("moved/b", large),
        ] {
            ensure!(std::fs::read(place.path(name))? == content, "{name} through the mount");
            ensure!(is_sealed(&with, name)?, "{name} is not encrypted with the key");
            ensure!(with.get(name)?.as_deref() == Some(&*content), "{name} with the key");
            ensure!(without.get(name).is_err(), "{name} without the key");
        }
        ensure!(std::fs::read_link(place.path("link"))? == Path::new("small"), "the link");
        ensure!(is_sealed(&with, "link")? && is_sealed(&with, "moved/")?, "link and marker");
        ensure!(with.headers("renamed")?.metadata.get("by").map(String::as_str) == Some("me"), "the attribute");
        place.unmount()?;
        // Who mounts it without the key, or with another, sees names.
        let other = key_file(place, "other", 8)?;
        place.mount(&["--objects"])?;
        ensure!(std::fs::read_dir(place.dir())?.count() == 4, "names without the key");
        ensure!(std::fs::read(place.path("renamed")).is_err(), "read without the key");
        place.unmount()?;
        mounted(place, &other, &[])?;
        let read = std::fs::read(place.path("renamed"));
        ensure!(read.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::EACCES)), "another key: {read:?}");
        place.unmount()?;
        ensure!(with.uploads()? == 0, "an unfinished upload");
        let log = std::fs::read_to_string(place.log())?;
        ensure!(!log.contains("BwcHBwcH"), "the key is in the log");
        Ok(())
    })
}

#[test]
fn what_others_encrypt_otherwise_is_read_and_stays_as_it_is() -> Result<()> {
    on_servers("mixed", |place| {
        let key = key_file(place, "key", 7)?;
        let with = Objects::with_key(place.store()?, &key)?;
        let large = pattern(5, 20 << 20);
        with.put("plain", b"content")?;
        with.put("large", &large)?;
        mounted(place, &key, &[])?;
        ensure!(
            std::fs::read(place.path("plain"))? == b"content" && std::fs::read(place.path("large"))? == large,
            "read"
        );
        let script = r"
            cp plain sealed; cat plain sealed plain > both
            echo more >> plain; chmod 0600 plain; mv plain moved
            printf X | dd of=large bs=1 seek=9000000 conv=notrunc status=none
        ";
        shell(script, place.dir(), LIMIT)?;
        ensure!(with.get("both")?.as_deref() == Some(b"contentcontentcontent"), "both");
        ensure!(with.get("moved")?.as_deref() == Some(b"contentmore\n"), "moved");
        let mut changed = large;
        *changed.get_mut(9_000_000).context("too short")? = b'X';
        ensure!(with.get("large")? == Some(changed), "large");
        ensure!(!is_sealed(&with, "moved")? && !is_sealed(&with, "large")?, "those of others stay as they were");
        ensure!(is_sealed(&with, "sealed")? && is_sealed(&with, "both")?, "those that are new are encrypted");
        place.unmount()
    })
}

#[test]
fn trees_are_copied_with_the_key() -> Result<()> {
    over_each(Setup::new("sse-c-copies"), |place| {
        let key = key_file(place, "key", 7)?;
        let with = Objects::with_key(place.store()?, &key)?.below("objects/");
        let url = with.url();
        let key = key.to_str().context("not UTF-8")?.to_owned();
        let large = pattern(1, 20 << 20);
        std::fs::create_dir_all(place.path("tree/dir"))?;
        std::fs::write(place.path("tree/dir/small"), "content")?;
        std::fs::write(place.path("tree/large"), &large)?;
        let tree = place.path("tree");
        let tree = tree.to_str().context("not UTF-8")?;
        let said = place.stoa_on("export", &["--json", "--sse-key-file", &key, tree], &url)?;
        ensure!(said.status.success(), "{}", said.quoted());
        for name in ["dir/small", "large", "dir/"] {
            ensure!(is_sealed(&with, name)?, "{name} is not encrypted with the key");
        }
        std::fs::create_dir(place.path("back"))?;
        let said = place.stoa_on("import", &["--json", "--sse-key-file", &key, &url], place.path("back"))?;
        let report: serde_json::Value = serde_json::from_str(&said.stdout).with_context(|| said.quoted())?;
        ensure!(said.status.success() && report.get("files") == Some(&2.into()), "{}", said.quoted());
        ensure!(std::fs::read(place.path("back/large"))? == large, "large");
        ensure!(std::fs::read(place.path("back/dir/small"))? == b"content", "small");
        std::fs::create_dir(place.path("without"))?;
        let said = place.stoa_on("import", &[&url], place.path("without"))?;
        ensure!(!said.status.success() && !place.path("without/large").exists(), "without the key: {}", said.quoted());
        place.unmount()
    })
}

#[test]
fn a_deleted_file_comes_back_with_the_key() -> Result<()> {
    on_servers("sse-c-versions", |place| {
        let key = key_file(place, "key", 7)?;
        place.store()?.keep_versions()?;
        let with = Objects::with_key(place.store()?, &key)?;
        mounted(place, &key, &[])?;
        std::fs::write(place.path("file"), "one")?;
        std::thread::sleep(Duration::from_millis(2100));
        let then = shell("date -u +%Y-%m-%dT%H:%M:%S", place.dir(), LIMIT)?.trim().to_owned();
        std::thread::sleep(Duration::from_millis(1100));
        std::fs::write(place.path("file"), "two")?;
        place.unmount()?;
        let key = key.to_str().context("not UTF-8")?.to_owned();
        let url = format!("{}/file", with.url());
        let said = place.stoa_on("undelete", &["--sse-key-file", &key, "--at", &then], &url)?;
        ensure!(said.status.success(), "{}", said.quoted());
        ensure!(with.get("file")?.as_deref() == Some(b"one") && is_sealed(&with, "file")?, "{}", said.quoted());
        Ok(())
    })
}

#[test]
fn a_server_that_does_not_know_such_keys_gets_no_content() -> Result<()> {
    if StoreKind::s3() != StoreKind::Versitygw {
        return not_run("sse-c-ignored", "versitygw is not installed");
    }
    nothing_is_written("sse-c-ignored", StoreKind::Versitygw, "ignores the key")
}

#[test]
fn a_server_that_takes_such_keys_over_tls_only_gets_none_without() -> Result<()> {
    if tools::installed("minio").is_none() {
        return not_run("sse-c-insecure", "MinIO is not installed");
    }
    nothing_is_written("sse-c-insecure", StoreKind::Minio, "over TLS only")
}

/// On a server that does not encrypt with the key, what is there is read, and writing fails; the log says `why`.
fn nothing_is_written(name: &'static str, store: StoreKind, why: &str) -> Result<()> {
    in_place(Setup::new(name).store(store).empty(), |place| {
        let key = key_file(place, "key", 7)?;
        let objects = Objects::of(place.store()?)?;
        objects.put("plain", b"content")?;
        mounted(place, &key, &[])?;
        ensure!(std::fs::read(place.path("plain"))? == b"content", "what is there is read");
        let written = std::fs::write(place.path("new"), "content");
        ensure!(written.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::ENOTSUP)), "{written:?}");
        ensure!(std::fs::read_to_string(place.log())?.contains(why), "the log does not say why");
        ensure!(objects.keys()? == ["plain"], "{:?}", objects.keys()?);
        place.unmount()?;
        ensure!(objects.uploads()? == 0, "an unfinished upload");
        Ok(())
    })
}

#[test]
fn flags_and_files_that_do_not_fit_are_refused() -> Result<()> {
    on_servers("sse-c-refused", |place| {
        let key = key_file(place, "key", 7)?;
        let key = key.to_str().context("not UTF-8")?.to_owned();
        for args in [&["--objects", "--sse", "c"][..], &["--objects", "--sse-key-file", &key]] {
            let said = format!("{:?}", place.mount(args).err().context("mounted")?);
            ensure!(said.contains("both --sse c and --sse-key-file"), "{said}");
        }
        std::fs::set_permissions(&key, Permissions::from_mode(0o644))?;
        let said = format!(
            "{:?}",
            place.mount(&["--objects", "--sse", "c", "--sse-key-file", &key]).err().context("mounted")?
        );
        ensure!(said.contains(&key) && said.contains("every user"), "{said}");
        Ok(())
    })
}
