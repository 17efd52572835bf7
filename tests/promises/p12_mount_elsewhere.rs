//! 12. Mounted elsewhere, a volume shows everything: hard links, attributes, owners, times, nodes of every kind.

use anyhow::Result;
use stoa_tests::command::shell;
use stoa_tests::{Setup, StoreKind, in_place, scale, tools, tree};

const NODES: &str = "
mkdir dir dir/sub; echo one > dir/one; ln dir/one two; ln dir/one dir/sub/three; ln -s ../dir/one dir/link
mkfifo fifo; mknod null c 1 3; mknod disk b 7 200; chmod 1777 dir; chmod 6755 dir/one; chmod 2750 dir/sub
chown 1234:4321 two; chown -h 5:6 dir/link
setfattr -n user.a -v value two; setfattr -n user.big -v \"$(head -c 3000 /dev/zero | tr '\\0' x)\" dir
setfattr -n trusted.t -v root two; setfacl -m u:77:rw two; setfacl -d -m g:88:rx dir
touch -d '1955-11-05 06:15:00.000000001Z' two; touch -h -d '2155-11-05 06:15:00.999999999Z' dir/link
touch -d '2001-01-01 00:00:00.5Z' dir
";

#[test]
fn p12_everything_is_there() -> Result<()> {
    tools::need_root("owners, devices and trusted attributes are root's")?;
    in_place(Setup::new("p12").store(StoreKind::s3()), |place| {
        tree::plant(&place.path("tree"), 200, 12)?;
        shell(NODES, place.dir(), scale::minutes(1, 1))?;
        let expected = tree::survey(place.dir())?;
        if !place.is_volume() {
            place.remount()?;
            return tree::compare(&tree::survey(place.dir())?, &expected);
        }
        place.unmount()?;
        let elsewhere = place.mount_on(&place.scratch().join("elsewhere"), &[])?;
        tree::compare(&tree::survey(elsewhere.dir())?, &expected)?;
        elsewhere.unmount()?;
        place.expect_clean()?;
        Ok(())
    })
}
