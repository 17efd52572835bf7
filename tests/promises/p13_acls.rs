//! 13. POSIX ACLs mean what they mean on ext4: `setfacl`, `getfacl`, inheritance, the mask, and who may read.
//!
//! The same script runs on the mount and beside it, and must print the same.

use anyhow::{Result, ensure};
use stoa_tests::command::shell;
use stoa_tests::{Setup, in_place, scale, tools};

const SCRIPT: &str = r#"
umask 022
show() { getfacl --numeric --absolute-names "$@" 2>&1; stat -c '%n %a' "$@"; }
try() { local id=$1; shift; if setpriv --reuid "$id" --regid 60000 --clear-groups "$@" 2>/dev/null; then echo "$id may $*"; else echo "$id may not $*"; fi; }
chmod 755 .
echo content > f; chmod 640 f; show f
setfacl -m u:1001:r,u:1002:rw,g:2001:r f; show f
chmod g=- f; show f; try 1001 cat f
chmod g=rw f; show f; try 1001 cat f; try 1002 tee -a f < /dev/null; try 1003 cat f
setfacl -m m::r f; show f; try 1002 tee -a f < /dev/null
setfacl -x u:1001 f; show f; try 1001 cat f
setfacl -b f; show f
mkdir d; setfacl -d -m u:1001:rwx,g:2001:rx,o::- d; show d
echo child > d/file; mkdir d/sub; mkfifo d/fifo; (umask 077; echo masked > d/masked; mkdir d/masked-dir); show d/file d/sub d/fifo d/masked d/masked-dir
setfacl -m u:1001:rx d; try 1001 ls d; try 1003 ls d/sub
setfacl -k d; show d; mkdir d/plain; show d/plain
setfacl -m u:1001:--- f; try 1001 cat f
cp --preserve=all d/file copy; show copy
chmod 2775 d; setfacl -m g:2001:rwx d; chown 1001:60001 d; chmod g+s d; show d
setfacl -m u::rwx,g::rx,o::r,m::rwx f; show f
setfacl --set u::rw,g::r,o::- f; show f; ls -l f | cut -c1-11
setfacl -m u:1001:rwx nothing-here 2>&1 | sed 's/.*: //' || true
ln -s f link; getfacl --numeric --absolute-names link; echo done
"#;

#[test]
fn p13_same_as_the_local_file_system() -> Result<()> {
    tools::need_root("it switches users")?;
    in_place(Setup::new("p13"), |place| {
        let oracle = place.scratch().join("oracle");
        std::fs::create_dir(&oracle)?;
        shell("chmod 755 . files", place.scratch(), scale::minutes(1, 1))?;
        let expected = shell(SCRIPT, &oracle, scale::minutes(1, 1))?;
        ensure!(expected.ends_with("done\n"), "the script did not run beside the mount: {expected}");
        let found = shell(SCRIPT, place.dir(), scale::minutes(1, 1))?;
        same_lines(&found, &expected)?;
        place.remount()?;
        let show = "find . -print0 | sort -z | xargs -0 getfacl --numeric --physical";
        let (expected, found) =
            (shell(show, &oracle, scale::minutes(1, 1))?, shell(show, place.dir(), scale::minutes(1, 1))?);
        same_lines(&found, &expected)
    })
}

fn same_lines(found: &str, expected: &str) -> Result<()> {
    for (number, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        ensure!(found == expected, "line {number}: {found:?}, not {expected:?}");
    }
    ensure!(found.lines().count() == expected.lines().count(), "more or fewer lines:\n{found}\n{expected}");
    Ok(())
}
