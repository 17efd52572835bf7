//! What new objects carry beside their bytes.

use crate::setting::{over_objects, over_objects_in};
use anyhow::{Result, ensure};
use std::time::Duration;
use stoa_objects::s3::Encryption;
use stoa_tests::StoreKind;
use stoa_tests::command::shell;

const LIMIT: Duration = Duration::from_secs(120);

#[test]
fn the_type_goes_by_the_name() -> Result<()> {
    over_objects(
        "types",
        &[],
        |_| Ok(()),
        |place, objects| {
            shell(
                "echo x > page.html; echo x > plain; head -c 20000000 /dev/zero > film.MP4; mv page.html other.txt",
                place.dir(),
                LIMIT,
            )?;
            for (key, wanted) in
                [("other.txt", "text/html"), ("plain", "application/octet-stream"), ("film.MP4", "video/mp4")]
            {
                let found = objects.headers(key)?.content_type;
                ensure!(found.as_deref() == Some(wanted), "{key}: {found:?}");
            }
            Ok(())
        },
    )
}

#[test]
fn they_are_stored_as_was_asked_for() -> Result<()> {
    // versitygw has one class, and does not encrypt.
    for (sse, algorithm, key) in [("s3", "AES256", None), ("kms:my-key", "aws:kms", Some("my-key"))] {
        let args = ["--storage-class", "STANDARD_IA", "--sse", sse, "--attributes", "objects"];
        over_objects_in(
            "stored",
            StoreKind::S3s,
            &args,
            |objects| objects.put("old", b"content"),
            |place, objects| {
                let script = "echo x > small; head -c 20000000 /dev/zero > large; mkdir dir; ln -s small link; echo more >> old; mv small moved";
                shell(script, place.dir(), LIMIT)?;
                for object in ["moved", "large", "dir/", "link"] {
                    let stored = objects.headers(object)?.storage;
                    let encryption = stored.encryption.and_then(|it| match it {
                        Encryption::Server { algorithm, key } => Some((algorithm, key)),
                        Encryption::Customer => None,
                    });
                    ensure!(stored.class.as_deref() == Some("STANDARD_IA"), "{object}: {:?}", stored.class);
                    // The server of these tests keeps no names of keys.
                    let wanted = encryption
                        .as_ref()
                        .is_some_and(|(name, id)| name == algorithm && (id.is_none() || id.as_deref() == key));
                    ensure!(wanted, "{object}: {encryption:?}");
                }
                ensure!(objects.headers("old")?.storage.class.is_none(), "what was there stays as it is stored");
                Ok(())
            },
        )?;
    }
    Ok(())
}
