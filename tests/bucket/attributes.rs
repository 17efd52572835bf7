//! Attributes: of the flags, and of the objects.

use crate::setting::over_objects;
use anyhow::{Result, ensure};
use std::os::unix::fs::MetadataExt;
use stoa_tests::{Objects, Place};

fn plant(objects: &Objects) -> Result<()> {
    objects.put("plain", b"content")?;
    objects.put_with(
        "script",
        b"#!/bin/sh",
        &[("mode", "33261"), ("uid", "1000"), ("gid", "100"), ("mtime", "1609459200")],
    )?;
    objects.put_with("link", b"plain", &[("mode", "41471"), ("mtime", "1609459200.5")])?;
    objects.put("dir/below", b"x")
}

fn mode_and_owner(place: &Place, path: &str) -> Result<(u32, u32, u32)> {
    let found = std::fs::symlink_metadata(place.path(path))?;
    Ok((found.mode(), found.uid(), found.gid()))
}

#[test]
fn the_flags_say_what_the_listing_does_not() -> Result<()> {
    let args = ["--uid", "7", "--gid", "8", "--file-mode", "0640", "--dir-mode", "0750"];
    over_objects("flags", &args, plant, |place, _| {
        for path in ["plain", "script", "link"] {
            ensure!(mode_and_owner(place, path)? == (0o100_640, 7, 8), "{path}: {:?}", mode_and_owner(place, path)?);
        }
        ensure!(mode_and_owner(place, "dir")? == (0o040_750, 7, 8), "dir");
        let plain = std::fs::metadata(place.path("plain"))?;
        ensure!(plain.size() == 7 && plain.mtime() > 1_700_000_000, "{plain:?}");
        Ok(())
    })
}

#[test]
fn objects_say_it_when_they_are_asked() -> Result<()> {
    over_objects("asked", &["--attributes", "objects", "--uid", "7", "--gid", "8"], plant, |place, _| {
        ensure!(mode_and_owner(place, "script")? == (0o100_755, 1000, 100), "script");
        ensure!(mode_and_owner(place, "plain")? == (0o100_644, 7, 8), "plain");
        ensure!(std::fs::metadata(place.path("script"))?.mtime() == 1_609_459_200, "mtime");
        let link = std::fs::symlink_metadata(place.path("link"))?;
        ensure!(link.is_symlink() && link.mtime_nsec() == 500_000_000, "{link:?}");
        ensure!(std::fs::read_link(place.path("link"))?.as_os_str() == "plain", "target");
        ensure!(std::fs::read(place.path("link"))? == b"content", "followed");
        Ok(())
    })
}
