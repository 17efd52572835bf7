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

/// The one case that Linux leaves out on a volume: glibc knows LINK_MAX of the file systems in its own table only.
const NOT_ON_LINUX: &str = "link::link_count_max";

#[test]
fn pjdfstest_passes_whole() -> Result<()> {
    tools::need_root("pjdfstest changes users, makes devices and remounts read-only")?;
    make_user_tests()?;
    in_place(Setup::new("pjdfstest").limit(scale::minutes(6, 15)), |place| {
        // Others must reach the mount through the scratch directory.
        for dir in [place.scratch(), place.dir()] {
            std::fs::set_permissions(dir, PermissionsExt::from_mode(0o755))?;
        }
        // In two processes: some case leaves a file open, on ext4 and tmpfs too, and then nothing can be remounted.
        let most = pjdfstest(place, false, &[])?;
        let remounting: Vec<&str> =
            most.skipped.iter().filter(|case| case.contains("::erofs")).map(String::as_str).collect();
        let others: Vec<&String> = most.skipped.iter().filter(|case| !case.contains("::erofs")).collect();
        ensure!(others.iter().all(|case| *case == NOT_ON_LINUX), "skipped without a reason: {others:?}");
        ensure!(most.passed > 380 && remounting.len() == 13, "pjdfstest has changed: {most:?}");
        // Remounting a given directory would turn the machine's own file system read-only.
        if place.is_volume() {
            let rest = pjdfstest(place, true, &["erofs"])?;
            ensure!(rest.passed == remounting.len() && rest.skipped.is_empty(), "of the remounting cases: {rest:?}");
        }
        Ok(())
    })
}

/// What a run of pjdfstest, in which nothing failed, says.
#[derive(Debug)]
struct Report {
    passed: usize,
    skipped: Vec<String>,
}

fn pjdfstest(place: &Place, allow_remount: bool, patterns: &[&str]) -> Result<Report> {
    let config = place.scratch().join("pjdfstest.toml");
    std::fs::write(&config, configuration(allow_remount))?;
    let mount = only_the_kernel_remounts(place.scratch())?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(mount).chain(std::env::split_paths(&path)))?;
    let output = command::output(
        program(tools::tool("pjdfstest")?)
            .env("PATH", path)
            .env("NO_COLOR", "1")
            .env("RUST_BACKTRACE", "0")
            // EXDEV needs a second file system, which a volume is not.
            .args(["--secondary-fs", "/dev/shm", "--configuration-file"])
            .arg(&config)
            .arg("--path")
            .arg(place.dir())
            .args(patterns),
        scale::minutes(6, 15),
    )?;
    let report = &output.stdout;
    let summary = report.lines().find(|line| line.starts_with("Summary")).context("pjdfstest printed no summary")?;
    command::note(&format!("pjdfstest: {summary}"));
    let failures: Vec<&str> =
        report.lines().skip_while(|line| !line.ends_with("FAILED")).filter(|line| !line.ends_with(" ok")).collect();
    ensure!(output.status.success() && failures.is_empty(), "{summary}\n{}", failures.join("\n"));
    let with = |outcome: &str| -> Vec<String> {
        report.lines().filter_map(|line| line.strip_suffix(outcome)).map(|case| case.trim().to_owned()).collect()
    };
    Ok(Report { passed: with(" ok").len(), skipped: with(" skipped") })
}

/// A `mount` that goes to the kernel: mount(8) would hand a remount to a helper program of the FUSE type, while the suite
/// wants to see what happens when the file system becomes read-only.
fn only_the_kernel_remounts(scratch: &Path) -> Result<std::path::PathBuf> {
    let dir = scratch.join("bin");
    std::fs::create_dir_all(&dir)?;
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
