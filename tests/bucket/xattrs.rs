//! Extended attributes are user metadata, and what the store says.

use crate::setting::{over_objects, requests};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::time::Duration;
use stoa_tests::command::shell;

const LIMIT: Duration = Duration::from_secs(120);

const SCRIPT: &str = r#"python3 - <<'END'
import os, errno
def fails(number, call, *args):
    try: call(*args)
    except OSError as error: assert error.errno == number, error
    else: assert False, args
def names(path): return sorted(name for name in os.listxattr(path) if not name.startswith('user.s3.'))
assert os.getxattr('file', 'user.by') == b'somebody'
assert os.getxattr('file', 'user.s3.etag').startswith(b'"') and b'user.s3.etag'.decode() in os.listxattr('file')
os.setxattr('file', 'user.Plain name', b'value')
os.setxattr('file', 'user.bytes', bytes(range(256)))
fails(errno.EEXIST, os.setxattr, 'file', 'user.bytes', b'x', os.XATTR_CREATE)
fails(errno.ENODATA, os.setxattr, 'file', 'user.none', b'x', os.XATTR_REPLACE)
fails(errno.ENODATA, os.getxattr, 'file', 'user.none')
fails(errno.E2BIG, os.setxattr, 'file', 'user.large', b'x' * 3000)
fails(errno.ENOSPC, os.setxattr, 'file', 'user.large', b'x' * 1900)
fails(errno.EPERM, os.setxattr, 'file', 'user.s3.etag', b'x')
assert os.getxattr('file', 'user.bytes') == bytes(range(256)) and os.getxattr('file', 'user.Plain name') == b'value'
assert names('file') == ['user.Plain name', 'user.by', 'user.bytes'], names('file')
os.removexattr('file', 'user.by')
fails(errno.ENODATA, os.removexattr, 'file', 'user.by')
with open('new', 'w') as new:
    new.write('con'); new.flush()
    os.setxattr('new', 'user.early', b'kept')
    new.write('tent')
assert os.getxattr('new', 'user.early') == b'kept' and open('new').read() == 'content'
os.rename('new', 'renamed')
for dir in ['dir', 'implicit']:
    os.setxattr(dir, 'user.early', b'kept')
    fails(errno.EEXIST, os.setxattr, dir, 'user.early', b'x', os.XATTR_CREATE)
    assert names(dir) == ['user.early'], names(dir)
os.mkdir('made'); os.setxattr('made', 'user.gone', b'x'); os.removexattr('made', 'user.gone')
fails(errno.ENODATA, os.getxattr, 'made', 'user.gone')
os.rename('dir', 'moved')
for dir in ['moved', 'implicit']: assert os.getxattr(dir, 'user.early') == b'kept', dir
assert os.listdir('moved') == ['below'] and os.listdir('implicit') == ['below']
assert os.getxattr('renamed', 'user.early') == b'kept' and open('file').read() == 'content'
END"#;

#[test]
fn attributes_are_metadata() -> Result<()> {
    for args in [&["--attributes", "objects"][..], &[]] {
        over_objects(
            "xattrs",
            args,
            |objects| {
                objects.put("dir/", b"")?;
                objects.put("dir/below", b"x")?;
                objects.put("implicit/below", b"x")?;
                objects.put_with("file", b"content", &[("by", "somebody"), ("mode", "33188")])
            },
            |place, objects| {
                shell(SCRIPT, place.dir(), LIMIT)?;
                let metadata = objects.headers("file")?.metadata;
                let of =
                    |name: &str| metadata.get(name).map(String::as_str).context(format!("no {name}: {metadata:?}"));
                ensure!(of("%50lain%20name")? == "value" && of("mode")? == "33188", "{metadata:?}");
                let marker = objects.headers("moved/")?.metadata;
                ensure!(marker.get("early").map(String::as_str) == Some("kept"), "{marker:?}");
                ensure!(of("bytes")?.starts_with("base64:") && !metadata.contains_key("by"), "{metadata:?}");
                Ok(())
            },
        )?;
    }
    Ok(())
}

#[test]
fn looking_at_a_listing_asks_for_none() -> Result<()> {
    over_objects(
        "no-xattrs",
        &[],
        |objects| (0..20).try_for_each(|n| objects.put(&format!("dir/f{n}"), b"x")),
        |place, _| {
            let (_, cost) = requests(place, || shell("ls -l dir", place.dir(), LIMIT))?;
            ensure!(cost <= 3, "{cost} requests");
            // Neither a label nor an ACL of every file, whatever version of `ls` asks.
            let profile: Value = serde_json::from_str(&place.stoa_on("profile", &["--json"], place.dir())?.stdout)?;
            let asked = profile["operations"].as_array().context("no operations")?;
            let asked = asked.iter().filter(|one| one["operation"] == "getxattr").find_map(|one| one["count"].as_u64());
            ensure!(asked.unwrap_or(0) <= 3, "{asked:?} attributes were asked for");
            Ok(())
        },
    )
}
