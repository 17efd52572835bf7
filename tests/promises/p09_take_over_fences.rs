//! 9. `--take-over` shuts the first mount out: it refuses writes, and its fsync fails rather than lie.

use anyhow::{Result, ensure};
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::time::Duration;
use stoa_tests::command::until;
use stoa_tests::{Setup, StoreKind, content, in_place};

#[test]
fn p09_the_first_mount_is_fenced() -> Result<()> {
    in_place(Setup::new("p09").store(StoreKind::s3()), |place| {
        let durable = content::bytes(1, 200_000);
        let file = File::create(place.path("file"))?;
        file.write_all_at(&durable, 0)?;
        file.sync_all()?;
        let second = place.mount_on(&place.scratch().join("second"), &["--take-over"])?;
        content::check(&second.dir().join("file"), &durable)?;
        std::fs::write(second.dir().join("second"), "by the second")?;

        // Written into the kernel's cache, or refused at once; acknowledged by fsync, never.
        let written = file.write_all_at(b"too late", 0).and_then(|()| file.sync_all());
        ensure!(written.is_err(), "the fenced mount acknowledged an fsync");
        until("the fenced mount refuses new files", Duration::from_secs(30), || {
            Ok(File::create(place.path("new")).is_err_and(|error| error.kind() == ErrorKind::ReadOnlyFilesystem))
        })?;

        second.unmount()?;
        drop(file);
        drop(place.taken()?);
        place.mount(&[])?;
        content::check(&place.path("file"), &durable)?;
        content::check(&place.path("second"), b"by the second")?;
        ensure!(!place.path("new").exists(), "the fenced mount made a file");
        place.unmount()?;
        place.expect_clean()?;
        Ok(())
    })
}
