//! Files that s3fs and rclone wrote are what they were there.

use crate::setting::over_objects_in;
use anyhow::{Context, Result, ensure};
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use stoa_tests::command::{program, run, shell, until};
use stoa_tests::{Place, StoreKind};

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn files_of_s3fs() -> Result<()> {
    over_objects_in(
        "s3fs",
        StoreKind::s3(),
        &["--attributes", "objects", "--ttl", "0"],
        |_| Ok(()),
        |place, _| {
            let dir = place.scratch().join("s3fs");
            std::fs::create_dir(&dir)?;
            let s3fs = S3fs::mount(place, &dir)?;
            let script = "mkdir d; echo one > d/plain; echo two > script; chmod 750 script; chown 1234:567 script
            ln -s d/plain link; touch -d @1609459200 d/plain; chmod 700 d; : > empty; head -c 3000000 /dev/urandom > large";
            shell(script, &dir, LIMIT)?;
            shell(
                &format!("cmp large {0}/large; cmp d/plain {0}/d/plain; cat link | cmp - d/plain", dir.display()),
                place.dir(),
                LIMIT,
            )?;
            let of = |path: &str| std::fs::symlink_metadata(place.path(path)).with_context(|| path.to_owned());
            ensure!(
                (of("script")?.mode(), of("script")?.uid(), of("script")?.gid()) == (0o100_750, 1234, 567),
                "script"
            );
            ensure!(of("d/plain")?.mtime() == 1_609_459_200, "time");
            ensure!(of("d")?.mode() == 0o040_700 && of("link")?.is_symlink(), "kinds");
            // Of links and directories s3fs itself shows other sizes.
            for path in ["d/plain", "script", "empty", "large"] {
                let (here, there) = (of(path)?, std::fs::symlink_metadata(dir.join(path))?);
                ensure!(
                    (here.mode(), here.uid(), here.gid(), here.size(), here.mtime())
                        == (there.mode(), there.uid(), there.gid(), there.size(), there.mtime()),
                    "{path}"
                );
            }
            drop(s3fs);
            Ok(())
        },
    )
}

#[test]
fn files_of_rclone() -> Result<()> {
    over_objects_in(
        "rclone",
        StoreKind::s3(),
        &["--attributes", "objects", "--ttl", "0"],
        |_| Ok(()),
        |place, _| {
            let from = place.scratch().join("from");
            let script = "mkdir -p from/d; echo one > from/plain; echo two > from/d/below; touch -d '2021-01-01 00:00:00.123456789 UTC' from/plain
            touch -d @1600000000 from/d/below; chmod 644 from/plain from/d/below; touch -d @1500000000 from/d";
            shell(script, place.scratch(), LIMIT)?;
            let access = place.store()?.access();
            let mut rclone = program("rclone");
            for (name, value) in [
                ("TYPE", "s3".to_owned()),
                ("PROVIDER", "Other".to_owned()),
                ("ENV_AUTH", "true".to_owned()),
                ("ENDPOINT", access.endpoint().context("no endpoint")?),
                ("REGION", "us-east-1".to_owned()),
            ] {
                rclone.env(format!("RCLONE_CONFIG_X_{name}"), value);
            }
            rclone.envs(access.env.iter().map(|(name, value)| (name, value))).env("HOME", place.scratch());
            // Set for the machine's own proxy, perhaps; rclone can't use it.
            rclone.env_remove("AWS_CA_BUNDLE");
            let url = place.store()?.url().to_string_lossy().replace("s3://", "x:");
            run(rclone.args(["copy", "--quiet"]).arg(&from).arg(url), LIMIT)?;
            for file in ["plain", "d/below"] {
                let (here, there) = (std::fs::metadata(place.path(file))?, std::fs::metadata(from.join(file))?);
                ensure!(
                    (here.mtime(), here.mtime_nsec(), here.size()) == (there.mtime(), there.mtime_nsec(), there.size()),
                    "{file}"
                );
                ensure!(std::fs::read(place.path(file))? == std::fs::read(from.join(file))?, "{file}");
            }
            Ok(())
        },
    )
}

/// A mount of s3fs, until it is dropped.
struct S3fs<'d>(&'d Path);

impl<'d> S3fs<'d> {
    fn mount(place: &mut Place, dir: &'d Path) -> Result<Self> {
        let access = place.store()?.access();
        let endpoint = access.endpoint().context("no endpoint")?;
        let url = place.store()?.url().to_string_lossy().into_owned();
        let bucket = url.trim_start_matches("s3://").replacen('/', ":/", 1);
        let keys = place.scratch().join("s3fs-keys");
        let [key, secret] =
            ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].map(|name| access.variable(name).unwrap_or_default());
        std::fs::write(&keys, format!("{key}:{secret}"))?;
        std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o600))?;
        let options =
            format!("url={endpoint},endpoint=us-east-1,use_path_request_style,passwd_file={}", keys.display());
        run(program("s3fs").arg(bucket).arg(dir).args(["-o", &options]), LIMIT)?;
        let mounted = Self(dir);
        let mount_point = dir.display().to_string();
        until("s3fs answers", LIMIT, || Ok(std::fs::read_to_string("/proc/self/mountinfo")?.contains(&mount_point)))?;
        Ok(mounted)
    }
}

impl Drop for S3fs<'_> {
    fn drop(&mut self) {
        // With it goes its process. Nothing is to be done about one that stays.
        let _ = Command::new("umount").arg("--lazy").arg(self.0).status();
    }
}

#[test]
fn what_is_written_here_is_the_same_for_s3fs() -> Result<()> {
    over_objects_in(
        "to-s3fs",
        StoreKind::s3(),
        &["--attributes", "objects", "--ttl", "0"],
        |_| Ok(()),
        |place, _| {
            let script = "mkdir d; echo one > d/plain; echo two > script; chmod 750 script; chown 1234:567 script
            touch -d @1609459200 d/plain; cp d/plain copy; echo more >> copy; : > empty; head -c 20000000 /dev/urandom > large
            ln -s d/plain link; mkdir e; chmod 710 e; chown 12:34 e; touch -d @1500000000 e; umask 077; echo x > private; mkdir own; mv link moved";
            shell(script, place.dir(), LIMIT)?;
            let dir = place.scratch().join("s3fs");
            std::fs::create_dir(&dir)?;
            let s3fs = S3fs::mount(place, &dir)?;
            shell("diff -r s3fs files", place.scratch(), LIMIT)?;
            for path in ["d/plain", "script", "copy", "empty", "large"] {
                let (here, there) = (std::fs::metadata(place.path(path))?, std::fs::metadata(dir.join(path))?);
                ensure!((here.size(), here.mtime()) == (there.size(), there.mtime()), "{path}: {here:?} and {there:?}");
            }
            ensure!(std::fs::read_link(dir.join("moved"))?.as_os_str() == "d/plain", "the link");
            for (path, mode) in [("private", 0o100_600), ("own", 0o040_700), ("e", 0o040_710)] {
                let (here, there) = (std::fs::metadata(place.path(path))?, std::fs::metadata(dir.join(path))?);
                ensure!(
                    (here.mode(), here.uid(), here.gid()) == (there.mode(), there.uid(), there.gid()),
                    "{path}: {there:?}"
                );
                ensure!(here.mode() == mode, "{path}: {here:?}");
            }
            let e = std::fs::metadata(dir.join("e"))?;
            ensure!((e.uid(), e.gid(), e.mtime()) == (12, 34, 1_500_000_000), "{e:?}");
            let script = std::fs::metadata(dir.join("script"))?;
            ensure!((script.mode() & 0o777, script.uid(), script.gid()) == (0o750, 1234, 567), "{script:?}");
            drop(s3fs);
            Ok(())
        },
    )
}
