//! Trees of files: made from a seed, and compared with everything that a tar or an rsync would carry.

use crate::content;
use anyhow::{Context, Result, ensure};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Makes `files` files of mixed sizes in directories of a few dozen, below `root`.
///
/// # Errors
/// If something can't be made.
pub fn plant(root: &Path, files: u64, seed: u64) -> Result<()> {
    const IN_A_DIRECTORY: u64 = 37;
    let mut rng = SmallRng::seed_from_u64(seed);
    for number in 0..files {
        let group = number / IN_A_DIRECTORY;
        let dir = root.join(format!("d{}", group % 16)).join(format!("e{group}"));
        if number % IN_A_DIRECTORY == 0 {
            std::fs::create_dir_all(&dir)?;
        }
        // Like a source tree: mostly some KiB, a few large.
        let len = match rng.random_range(0..100) {
            0..10 => 0,
            10..70 => rng.random_range(1..4096),
            70..98 => rng.random_range(4096..32 * 1024),
            _ => rng.random_range(32 * 1024..512 * 1024),
        };
        let path = dir.join(format!("file-{number}.txt"));
        std::fs::write(&path, content::bytes(seed ^ number, len))?;
        std::fs::set_permissions(&path, PermissionsExt::from_mode(if number % 5 == 0 { 0o755 } else { 0o640 }))?;
        if number % 50 == 0 {
            std::os::unix::fs::symlink(format!("file-{number}.txt"), dir.join(format!("link-{number}")))?;
        }
    }
    Ok(())
}

/// What stands at one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Type and permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Length; of regular files and symlinks only, as that of a directory is nobody's business.
    pub size: u64,
    /// When its content changed, in seconds and nanoseconds.
    pub mtime: (i64, i64),
    /// Its number of names; of directories not.
    pub links: u64,
    /// Device number of devices.
    pub rdev: u64,
    /// Checksum of the content, or the target of a symlink.
    pub content: String,
    /// The first path, in order, of the same inode: equal for hard links, and only for these.
    pub first_name: PathBuf,
    /// Extended attributes, ACLs among them.
    pub xattrs: BTreeMap<String, Vec<u8>>,
}

/// Everything below `root`, by path.
///
/// # Errors
/// If something can't be read.
pub fn survey(root: &Path) -> Result<BTreeMap<PathBuf, Node>> {
    let mut nodes = BTreeMap::new();
    let mut ahead = vec![PathBuf::new()];
    while let Some(relative) = ahead.pop() {
        let path = root.join(&relative);
        let node = read(&path).with_context(|| path.display().to_string())?;
        if std::fs::symlink_metadata(&path)?.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                ahead.push(relative.join(entry?.file_name()));
            }
        }
        nodes.insert(relative, node);
    }
    let mut first_names = BTreeMap::new();
    for (path, (ino, node)) in &mut nodes {
        node.first_name = first_names.entry(*ino).or_insert_with(|| path.clone()).clone();
    }
    Ok(nodes.into_iter().map(|(path, (_, node))| (path, node)).collect())
}

/// Fails if two surveys differ; the message names the first paths that do.
///
/// # Errors
/// If they differ.
pub fn compare(found: &BTreeMap<PathBuf, Node>, expected: &BTreeMap<PathBuf, Node>) -> Result<()> {
    let mut differences = Vec::new();
    for path in expected.keys().chain(found.keys().filter(|path| !expected.contains_key(*path))) {
        let (found, expected) = (found.get(path), expected.get(path));
        if found != expected {
            differences.push(format!("{}:\n  found    {found:?}\n  expected {expected:?}", path.display()));
        }
    }
    let shown = differences.iter().take(5).cloned().collect::<Vec<_>>().join("\n");
    ensure!(differences.is_empty(), "{} paths differ:\n{shown}", differences.len());
    Ok(())
}

fn read(path: &Path) -> Result<(u64, Node)> {
    let meta = std::fs::symlink_metadata(path)?;
    let kind = meta.file_type();
    let content = if kind.is_symlink() {
        format!("{:?}", std::fs::read_link(path)?)
    } else if kind.is_file() {
        let bytes = std::fs::read(path)?;
        ensure!(bytes.len() as u64 == meta.len(), "{} bytes read of {}", bytes.len(), meta.len());
        format!("{:016x}", fingerprint(&bytes))
    } else {
        String::new()
    };
    let counts = kind.is_file() || kind.is_symlink();
    let node = Node {
        mode: meta.mode(),
        uid: meta.uid(),
        gid: meta.gid(),
        size: if counts { meta.len() } else { 0 },
        mtime: (meta.mtime(), meta.mtime_nsec()),
        links: if kind.is_dir() { 0 } else { meta.nlink() },
        rdev: if kind.is_block_device() || kind.is_char_device() { meta.rdev() } else { 0 },
        content,
        first_name: PathBuf::new(),
        xattrs: xattrs(path)?,
    };
    Ok((meta.ino(), node))
}

/// Extended attributes of a file, without following a symlink.
///
/// # Errors
/// If they can't be read.
pub fn xattrs(path: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut names = vec![0; 65536];
    let len = rustix::fs::llistxattr(path, &mut names)?;
    names.truncate(len);
    let mut found = BTreeMap::new();
    for name in names.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0; 65536];
        let len = rustix::fs::lgetxattr(path, name, &mut value)?;
        value.truncate(len);
        found.insert(String::from_utf8_lossy(name).into_owned(), value);
    }
    Ok(found)
}

/// FNV-1a over 8-byte words: enough to tell test contents apart, and quick in a debug build.
fn fingerprint(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        for (slot, byte) in word.iter_mut().zip(chunk) {
            *slot = *byte;
        }
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    }
    hash ^ bytes.len() as u64
}
