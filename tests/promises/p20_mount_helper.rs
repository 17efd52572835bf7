//! 20. `mount -t stoa` and /etc/fstab work, through a link /sbin/mount.stoa to the binary.

use anyhow::{Result, ensure};
use std::os::unix::fs::MetadataExt;
use stoa_tests::command::{program, run};
use stoa_tests::{Place, Setup, in_place, scale, tools};

/// Runs in name spaces of its own for mounts and processes: /sbin gets the link only there, and nothing outlives it.
const SCRIPT: &str = r#"
ln -s "$STOA" links/mount.stoa
sbin=$(realpath /sbin)
mount -t overlay overlay -o lowerdir="$PWD/links:$sbin" "$sbin"
mount -t stoa -o noatime "$PWD/store" files
echo content > files/f; grep -q " $PWD/files .*noatime" /proc/self/mountinfo
wait_gone() {
    # The unmount is done when the process behind it is: only then may the volume be mounted elsewhere.
    for _ in $(seq 300); do pgrep -x 'stoa|mount.stoa' > /dev/null || return 0; sleep 0.1; done
    echo 'the server still runs' >&2; return 1
}
umount files; wait_gone
echo "$PWD/store $PWD/files stoa ro,allow_other,default_permissions,memory=256M 0 0" > fstab
mount --fstab fstab "$PWD/files"
test "$(cat files/f)" = content
if touch files/new 2> /dev/null; then echo 'ro was ignored' >&2; exit 1; fi
umount files; wait_gone
"#;

#[test]
fn p20_mount_and_fstab() -> Result<()> {
    tools::need_root("mount(8) is root's")?;
    in_place(Setup::new("p20"), |place| {
        place.unmount()?;
        std::fs::create_dir(place.scratch().join("links"))?;
        run(
            program("unshare")
                .args([
                    "--mount",
                    "--pid",
                    "--fork",
                    "--kill-child",
                    "--mount-proc",
                    "bash",
                    "-euxo",
                    "pipefail",
                    "-c",
                    SCRIPT,
                ])
                .env("STOA", tools::stoa()?)
                .current_dir(place.scratch()),
            scale::minutes(1, 1),
        )?;
        ensure!(std::fs::read_dir(place.dir())?.next().is_none(), "it is mounted outside of its name space");
        place.mount(&[])?;
        ensure!(std::fs::read(place.path("f"))? == b"content\n", "the file is not there");
        Ok(())
    })
}

#[test]
fn p20_noatime() -> Result<()> {
    in_place(Setup::new("p20-noatime"), |place| {
        std::fs::write(place.path("file"), "content")?;
        place.unmount()?;
        place.mount(&["-o", "noatime"])?;
        ensure!(!read_moves_atime(place)?, "the time of access changed");
        place.remount()?;
        ensure!(read_moves_atime(place)?, "the time of access did not change without the option");
        Ok(())
    })
}

fn read_moves_atime(place: &Place) -> Result<bool> {
    let atime = || std::fs::metadata(place.path("file")).map(|found| (found.atime(), found.atime_nsec()));
    let before = atime()?;
    std::fs::read(place.path("file"))?;
    Ok(atime()? != before)
}
