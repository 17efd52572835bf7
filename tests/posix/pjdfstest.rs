//! pjdfstest: 398 cases of POSIX system calls and their errors. All must pass; none is excused and none is skipped.

use anyhow::{Context, Result, ensure};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use stoa_tests::command::{self, program};
use stoa_tests::{Place, Setup, in_place, scale, tools};

/// Every opt-in feature that Linux has: what is missing (`chflags`, NFSv4 ACLs, settable birth times) is FreeBSD's.
/// `rename_ctime` is left to file systems by POSIX; those of Linux do it. The nap is two ticks of the kernel's clock.
fn configuration(allow_remount: bool) -> String {
    format!(
        "[features]\nposix_fallocate = {{}}\nrename_ctime = {{}}\nutime_now = {{}}\nutimensat = {{}}\n\
         [settings]\nnaptime = 0.01\nallow_remount = {allow_remount}\n\
         [dummy_auth]\nentries = [[\"nobody\", \"nogroup\"], [\"tests\", \"tests\"]]\n"
    )
}

#[test]
fn pjdfstest_passes_whole() -> Result<()> {
    tools::need_root("pjdfstest changes users, makes devices and remounts read-only")?;
    make_user_tests()?;
    in_place(Setup::new("pjdfstest").limit(scale::minutes(6, 15)), |place| {
        let config = place.scratch().join("pjdfstest.toml");
        // Remounting a given directory would turn the machine's own file system read-only.
        std::fs::write(&config, configuration(place.is_volume()))?;
        std::fs::set_permissions(place.dir(), PermissionsExt::from_mode(0o755))?;
        // Others must reach the mount through the scratch directory.
        std::fs::set_permissions(place.scratch(), PermissionsExt::from_mode(0o755))?;
        let mount = only_the_kernel_remounts(place.scratch())?;
        let path = std::env::join_paths(
            std::iter::once(mount).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
        )?;
        // EXDEV needs a second file system, which a volume is not.
        let output = command::output(
            program(tools::tool("pjdfstest")?)
                .env("PATH", path)
                .env("NO_COLOR", "1")
                .args(["--secondary-fs", "/dev/shm", "--configuration-file"])
                .arg(&config)
                .arg("--path")
                .arg(place.dir()),
            scale::minutes(6, 15),
        )?;
        judge(place, &output.stdout, output.status.success())
    })
}

fn judge(place: &Place, report: &str, success: bool) -> Result<()> {
    let summary = report.lines().find(|line| line.starts_with("Summary")).context("pjdfstest printed no summary")?;
    command::note(&format!("pjdfstest: {summary}"));
    let lines: Vec<&str> = report.lines().collect();
    let bad: Vec<String> = lines
        .windows(2)
        .filter_map(|pair| match pair {
            [name, reason] if name.ends_with("FAILED") => Some(format!("{name}\n    {}", reason.trim())),
            _ => None,
        })
        .collect();
    ensure!(success && bad.is_empty(), "{summary}\n{}", bad.join("\n"));
    if place.is_volume() {
        ensure!(summary.contains(" 0 skipped"), "no case may be skipped on a volume: {summary}\n{report}");
    }
    Ok(())
}

/// A `mount` that goes to the kernel: mount(8) would hand a remount to a helper program of the FUSE type, while the suite
/// wants to see what happens when the file system becomes read-only.
fn only_the_kernel_remounts(scratch: &Path) -> Result<std::path::PathBuf> {
    let dir = scratch.join("bin");
    std::fs::create_dir(&dir)?;
    let script = dir.join("mount");
    std::fs::write(&script, "#!/bin/sh\nPATH=/usr/bin:/bin exec mount --internal-only \"$@\"\n")?;
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755))?;
    Ok(dir)
}

/// The second user that pjdfstest switches to; `nobody` is the first.
fn make_user_tests() -> Result<()> {
    let limit = std::time::Duration::from_secs(30);
    if command::output(program("getent").args(["passwd", "tests"]), limit)?.status.success() {
        return Ok(());
    }
    command::run(
        program("useradd").args([
            "--system",
            "--no-create-home",
            "--user-group",
            "--shell",
            "/usr/sbin/nologin",
            "tests",
        ]),
        limit,
    )?;
    Ok(())
}
