//! 3. An unmount, however it is asked for, returns or ends only when everything is in the store.

use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use stoa_tests::command::{self, program, shell};
use stoa_tests::{Mount, Place, Setup, StoreKind, content, in_place, scale, tools, tree};

/// How long a `stoa umount` may take that has nothing to wait for.
const AT_ONCE: Duration = Duration::from_secs(60);

#[test]
fn p03_stoa_umount() -> Result<()> {
    unmounted_by("p03", Mount::unmount)
}

#[test]
fn p03_umount_by_the_kernel() -> Result<()> {
    unmounted_by("p03-kernel", Mount::unmount_by_kernel)
}

#[test]
fn p03_sigterm() -> Result<()> {
    unmounted_by("p03-sigterm", Mount::terminate)
}

fn unmounted_by(name: &'static str, how: fn(Mount) -> Result<()>) -> Result<()> {
    in_place(Setup::new(name).store(StoreKind::s3()), |place| {
        tree::plant(&place.path("tree"), scale::pick(400, 5000), 3)?;
        std::fs::write(place.path("large"), content::bytes(9, 30 << 20))?;
        let expected = tree::survey(place.dir())?;
        how(place.taken()?)?;
        ensure!(std::fs::read_dir(place.dir())?.next().is_none(), "still mounted");
        place.mount(&[])?;
        tree::compare(&tree::survey(place.dir())?, &expected)?;
        place.unmount()?;
        place.expect_clean()?;
        Ok(())
    })
}

/// A program that has written to a file and holds it open: the shell itself, as closing the file would wait for the store.
const WRITER: &str = "exec > file; printf '%25165824d' 1; kill -STOP $$";

/// The kernel has more of the file than the mount has room for.
#[test]
fn p03_sigterm_while_a_file_is_open() -> Result<()> {
    in_place(Setup::new("p03-open").store(StoreKind::s3()), |place| {
        place.unmount()?;
        place.mount(&["--memory", "64M"])?;
        place.store()?.stop()?;
        let mut writer = program("sh").args(["-c", WRITER]).current_dir(place.dir()).spawn()?;
        let status = format!("/proc/{}/status", writer.id());
        let written = || Ok(std::fs::read_to_string(&status)?.contains("(stopped)"));
        let written = command::until("the file is written", AT_ONCE, written);
        let mount = place.taken()?;
        let ended = std::thread::spawn(move || mount.terminate());
        std::thread::sleep(Duration::from_secs(3));
        let waits = !ended.is_finished();
        place.store()?.resume()?;
        let ended = ended.join().map_err(|_| anyhow::anyhow!("the unmount panicked"))?;
        writer.kill()?;
        writer.wait()?;
        written.and(ended)?;
        ensure!(waits, "ended, with no store");
        place.mount(&[])?;
        let mut expected = vec![b' '; 24 << 20];
        expected[(24 << 20) - 1] = b'1';
        content::check(&place.path("file"), &expected)
    })
}

/// What its files lie on can be unmounted next.
#[test]
fn p03_no_process_is_left() -> Result<()> {
    in_place(Setup::new("p03-process"), |place| {
        let cache = place.scratch().join("cache");
        place.unmount()?;
        place.mount(&["--cache-dir", &cache.to_string_lossy()])?;
        std::fs::write(place.path("file"), content::bytes(2, 30 << 20))?;
        let pid = place.pid().context("no process")?;
        let dir = place.dir().to_owned();
        let unmounted = place.stoa_on("umount", &[], &dir)?;
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        ensure!(unmounted.status.success(), "{}", unmounted.quoted());
        ensure!(stat.is_empty() || stat.contains(") Z "), "it is still there: {stat}");
        drop(place.taken()?);
        Ok(())
    })
}

/// A mount that took no changes brings nothing into the store, and does not say so.
#[test]
fn p03_read_only() -> Result<()> {
    in_place(Setup::new("p03-read-only"), |place| {
        place.unmount()?;
        place.mount(&["-o", "ro"])?;
        let dir = place.dir().to_owned();
        let unmounted = place.stoa_on("umount", &[], &dir)?;
        ensure!(unmounted.stdout == format!("unmounted {}\n", dir.display()), "{}", unmounted.quoted());
        drop(place.taken()?);
        Ok(())
    })
}

/// What a mount leaves that was killed is no obstacle to the next one on the same directory.
#[test]
fn p03_mount_after_a_kill() -> Result<()> {
    in_place(Setup::new("p03-killed"), |place| {
        let (dir, store) = (place.dir().to_owned(), place.store()?.url().to_string_lossy().into_owned());
        let mut dead = place.taken()?;
        // The kernel knows the directory, and goes on to answer for it.
        ensure!(std::fs::metadata(&dir)?.is_dir(), "no directory");
        dead.kill()?;
        let mounted = place.stoa_on("mount", &[&store], &dir)?;
        ensure!(mounted.status.success() && mounted.stderr.contains("is gone: cleared"), "{}", mounted.quoted());
        std::fs::write(place.path("file"), "content")?;
        let again = place.stoa_on("mount", &[&store], &dir)?;
        ensure!(!again.status.success() && again.stderr.contains("already"), "a live mount: {}", again.quoted());
        ensure!(place.stoa_on("umount", &[], &dir)?.status.success(), "it can't be unmounted");
        place.expect_clean()?;
        Ok(())
    })
}

/// Who unmounts may look for the process elsewhere than who mounted noted it: cron and `su` have another environment.
#[test]
fn p03_a_process_that_is_not_found() -> Result<()> {
    in_place(Setup::new("p03-unfound").store(StoreKind::s3()), |place| {
        std::fs::write(place.path("file"), content::bytes(4, 3 << 20))?;
        place.store()?.stop()?;
        let elsewhere = place.scratch().join("elsewhere");
        let unmounted = command::output(umount(place.dir())?.env("STOA_RUNTIME_DIR", elsewhere), AT_ONCE)?;
        ensure!(unmounted.status.code() == Some(1), "{}", unmounted.quoted());
        ensure!(unmounted.stderr.contains("STOA_RUNTIME_DIR"), "{}", unmounted.quoted());
        content::check(&place.path("file"), &content::bytes(4, 3 << 20))?;
        place.store()?.resume()?;
        place.remount()?;
        content::check(&place.path("file"), &content::bytes(4, 3 << 20))
    })
}

#[test]
fn p03_a_process_that_is_killed_meanwhile() -> Result<()> {
    in_place(Setup::new("p03-killed-meanwhile").store(StoreKind::s3()), |place| {
        std::fs::write(place.path("file"), content::bytes(5, 3 << 20))?;
        place.store()?.stop()?;
        let mut served = place.taken()?;
        let mut unmount = umount(place.dir())?.stderr(Stdio::null()).spawn()?;
        // It waits for the store.
        std::thread::sleep(Duration::from_secs(2));
        ensure!(unmount.try_wait()?.is_none(), "unmounted, with no store");
        served.kill()?;
        let status = command::wait(&mut unmount, AT_ONCE)?.context("it still waits for nobody")?;
        ensure!(status.code() == Some(1), "what was lost is said to be durable: {status}");
        Ok(())
    })
}

/// Nobody knows whether it had brought everything into the store.
#[test]
fn p03_a_process_that_is_gone() -> Result<()> {
    in_place(Setup::new("p03-gone"), |place| {
        std::fs::write(place.path("file"), content::bytes(6, 3 << 20))?;
        let mut dead = place.taken()?;
        dead.kill()?;
        let unmounted = command::output(&mut umount(place.dir())?, AT_ONCE)?;
        ensure!(unmounted.status.code() == Some(1) && unmounted.stderr.contains("is lost"), "{}", unmounted.quoted());
        ensure!(std::fs::read_dir(place.dir())?.next().is_none(), "still mounted");
        place.expect_clean()?;
        Ok(())
    })
}

/// Mounts in a login, and unmounts as cron would. Runs in a name space of its own for mounts: /run is another one only there, and
/// everybody may use /dev/fuse.
const LOGIN: &str = r#"
chmod 755 .
mount -t tmpfs tmpfs /run
mknod -m 666 /run/fuse c 10 229
mount --bind /run/fuse /dev/fuse
export HOME="$PWD/home"
uid=$(id -u nobody)
mkdir -p /run/user/$uid home/files
chown -R $uid /run/user/$uid home
as_user() { setpriv --reuid $uid --regid $uid --clear-groups env -C home "$@"; }
as_user XDG_RUNTIME_DIR=/run/user/$uid "$STOA" mount --create store files
trap 'umount -l home/files' ERR
as_user touch files/file
as_user -u XDG_RUNTIME_DIR "$STOA" umount files
"#;

#[test]
fn p03_a_process_of_a_login() -> Result<()> {
    tools::need_root("switches to another user")?;
    in_place(Setup::new("p03-login").local(), |place| {
        let mut script = program("unshare");
        script.args(["--mount", "bash", "-euo", "pipefail", "-c", LOGIN]);
        let said = command::run(script.env("STOA", tools::stoa()?).current_dir(place.scratch()), scale::minutes(1, 1))?;
        ensure!(said.contains("everything is in"), "{said}");
        Ok(())
    })
}

/// `stoa umount`.
fn umount(dir: &Path) -> Result<Command> {
    let mut umount = program(tools::stoa()?);
    umount.arg("umount").arg(dir);
    Ok(umount)
}

#[test]
fn p03_background_mount() -> Result<()> {
    in_place(Setup::new("p03-background"), |place| {
        place.unmount()?;
        in_background(place)
    })
}

/// The two commands of the README: the first returns when the mount answers, the second when all is in the store.
fn in_background(place: &mut Place) -> Result<()> {
    let stoa = tools::stoa()?;
    let (stoa, limit) = (stoa.display(), scale::minutes(1, 1));
    let script = format!(
        "trap '{stoa} umount files || umount -l files' ERR\n\
         {stoa} mount store files\n\
         mkdir files/d; echo content > files/d/f; {stoa} status --json files | grep -q dirty_bytes\n\
         {stoa} umount files\n\
         test -z \"$(ls -A files)\"; {stoa} mount store files; test \"$(cat files/d/f)\" = content; {stoa} umount files"
    );
    shell(&script, place.scratch(), limit)?;
    place.expect_clean()?;
    Ok(())
}
