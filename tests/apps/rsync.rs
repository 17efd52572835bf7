//! rsync -aHAX: there and back with no difference in anything it carries.

use anyhow::{Result, ensure};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use stoa_tests::command::shell;
use stoa_tests::{Setup, StoreKind, content, in_place, scale, tools, tree};

/// With times to the nanosecond: by default rsync takes times within the same second for equal.
const RSYNC: &str = "rsync -aHAX --modify-window=-1";

/// Hard links, ACLs, attributes, times before 1970 and after 2038, every kind of node, owners that have no name.
const ODDITIES: &str = r"
mkdir odd odd/empty odd/sticky odd/deep
echo one > odd/one; ln odd/one odd/two; ln odd/one odd/deep/three
ln -s one odd/link; ln -s /nowhere/at/all odd/dangling; ln -s $'odd\ntarget' odd/newline-link
mkfifo odd/fifo; mknod odd/null c 1 3; mknod odd/disk b 7 99
chmod 1777 odd/sticky; chmod 4755 odd/one; chmod 2750 odd/deep; chmod 000 odd/fifo
echo a > odd/acl; setfacl -m u:12345:rwx,g:54321:r--,m::rw- odd/acl
setfacl -d -m u:12345:rx,o::--- odd/deep; setfacl -m g:777:rwx odd/deep
echo x > odd/attributes
setfattr -n user.short -v value odd/attributes; setfattr -n user.empty odd/attributes
setfattr -n user.binary -v 0x00ff00fe0a odd/attributes; setfattr -n trusted.secret -v for-root odd/attributes
setfattr -n user.on-directory -v yes odd/empty
setfattr -n trusted.on-link -v yes -h odd/link
chown 65533:4242 odd/two; chown -h 1:2 odd/link
echo old > odd/old; touch -d '1931-03-04 05:06:07.123456789Z' odd/old
echo new > odd/new; touch -d '2199-03-04 05:06:07.987654321Z' odd/new
touch -h -d '2001-02-03 04:05:06.777Z' odd/link
touch -d '1999-09-09 09:09:09.090909Z' odd/empty
";

#[test]
fn rsync_there_and_back() -> Result<()> {
    tools::need_root("rsync must carry owners, devices and trusted attributes")?;
    in_place(Setup::new("rsync").store(StoreKind::s3()).limit(scale::minutes(5, 30)), |place| {
        let (source, back) = (place.scratch().join("source"), place.scratch().join("back"));
        std::fs::create_dir(&source)?;
        std::fs::create_dir(place.path("copy"))?;
        make_source(&source)?;
        let limit = scale::minutes(4, 25);
        shell(&format!("{RSYNC} --sparse source/ files/copy/"), place.scratch(), limit)?;
        place.remount()?;
        let expected = tree::survey(&source)?;
        tree::compare(&tree::survey(&place.path("copy"))?, &expected)?;
        let changes = format!("{RSYNC} --checksum --delete --itemize-changes --dry-run source/ files/copy/");
        let changes = shell(&changes, place.scratch(), limit)?;
        ensure!(changes.is_empty(), "rsync sees differences:\n{changes}");
        shell(&format!("{RSYNC} --sparse files/copy/ back/"), place.scratch(), limit)?;
        tree::compare(&tree::survey(&back)?, &expected)
    })
}

fn make_source(source: &Path) -> Result<()> {
    tree::plant(&source.join("tree"), scale::pick(300, 20_000), 7)?;
    shell(ODDITIES, source, scale::minutes(1, 1))?;
    let names = source.join("names");
    std::fs::create_dir(&names)?;
    let long = [b'n'; 255];
    let odd: [&[u8]; 8] =
        [b"-rf", b" ", b"\n", b"*?[]", b"\xff\xfe not UTF-8", "\u{1f3db} stoa".as_bytes(), &long, b"back\\slash"];
    for name in odd {
        std::fs::write(names.join(std::ffi::OsStr::from_bytes(name)), name)?;
    }
    let sparse = File::create(source.join("sparse"))?;
    sparse.write_all_at(&content::bytes(1, 100_000), 3 << 20)?;
    sparse.write_all_at(b"end", (40 << 20) + 5)?;
    sparse.set_len(64 << 20)?;
    Ok(())
}
