//! 8. A second mount of a mounted volume is refused, says who has it, and leaves the first alone.

use anyhow::{Result, bail, ensure};
use stoa_tests::{Setup, StoreKind, in_place};

#[test]
fn p08_refused_with_the_owner_named() -> Result<()> {
    in_place(Setup::new("p08").store(StoreKind::s3()), |place| {
        std::fs::write(place.path("file"), "first")?;
        let Err(refusal) = place.mount_on(&place.scratch().join("second"), &[]) else {
            bail!("the second mount was let in");
        };
        let text = format!("{refusal:#}");
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname")?;
        for needed in ["mounted", "--take-over", host.trim()] {
            ensure!(text.contains(needed), "the message lacks {needed:?}: {text}");
        }
        std::fs::write(place.path("file"), "still writable")?;
        std::fs::File::open(place.path("file"))?.sync_all()?;
        place.remount()?;
        ensure!(std::fs::read(place.path("file"))? == b"still writable", "the first mount lost its write");
        Ok(())
    })
}

#[test]
fn p08_a_dead_mount_is_no_owner() -> Result<()> {
    in_place(Setup::new("p08-dead"), |place| {
        place.kill()?;
        // No --take-over: its process can be seen to be gone.
        place.mount(&[])
    })
}
