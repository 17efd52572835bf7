//! The folder of slab files. A trait, so that tests can make it fail.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::process::geteuid;

/// The slab files of one cache, named by number. Every call blocks on the disk.
pub(crate) trait Files: Send + Sync + 'static {
    /// The slabs that there are, each with its length in bytes.
    fn list(&self) -> io::Result<Vec<(u64, u64)>>;
    /// So many bytes of a slab; fewer are an error.
    fn read(&self, slab: u64, position: u64, len: usize) -> io::Result<Vec<u8>>;
    /// Writes all of the bytes, making the file if it is absent.
    fn write(&self, slab: u64, position: u64, bytes: &[u8]) -> io::Result<()>;
    /// Removes a slab.
    fn remove(&self, slab: u64) -> io::Result<()>;
}

/// How much of the disk that `path` is on, or is going to be, slabs there may take: what they have, and nine tenths of what is free. `None`
/// if nobody knows.
pub(crate) fn room(path: &Path) -> Option<u64> {
    let disk = path.ancestors().find_map(|path| rustix::fs::statvfs(path).ok())?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let held: u64 = slabs_in(path).unwrap_or_default().iter().map(|(_, len)| len).sum();
    Some(held.saturating_add(free / 10 * 9))
}

/// A folder that this process has locked. Files are opened for each call, so that their number is no limit.
pub(crate) struct Folder {
    path: PathBuf,
    /// Held for as long as the cache uses the folder.
    _lock: File,
}

impl Folder {
    /// Makes the folder if it is absent, closes it to other users, and locks it.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        close_to_others(path)?;
        let lock = private().create(true).truncate(false).open(path.join("lock"))?;
        lock.try_lock().map_err(|error| match error {
            fs::TryLockError::WouldBlock => io::Error::new(ErrorKind::ResourceBusy, "another process uses it"),
            fs::TryLockError::Error(error) => error,
        })?;
        Ok(Self { path: path.to_path_buf(), _lock: lock })
    }

    fn slab(&self, slab: u64) -> PathBuf {
        self.path.join(format!("slab-{slab:016x}"))
    }
}

impl Files for Folder {
    fn list(&self) -> io::Result<Vec<(u64, u64)>> {
        slabs_in(&self.path)
    }

    fn read(&self, slab: u64, position: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        File::open(self.slab(slab))?.read_exact_at(&mut bytes, position)?;
        Ok(bytes)
    }

    fn write(&self, slab: u64, position: u64, bytes: &[u8]) -> io::Result<()> {
        private().create(true).truncate(false).open(self.slab(slab))?.write_all_at(bytes, position)
    }

    fn remove(&self, slab: u64) -> io::Result<()> {
        fs::remove_file(self.slab(slab))
    }
}

/// Sees to it that only this user can reach into a folder, which may have been there before. Whose it is can't be left to what the kernel
/// refuses, as it refuses root nothing. Nor may another user's link lead to it.
fn close_to_others(path: &Path) -> io::Result<()> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(path, flags, Mode::empty())?;
    if rustix::fs::fstat(&folder)?.st_uid != geteuid().as_raw() {
        return Err(io::Error::new(ErrorKind::PermissionDenied, "the folder is another user's"));
    }
    Ok(rustix::fs::fchmod(&folder, Mode::RWXU)?)
}

/// The slabs in a folder, each with its length in bytes.
fn slabs_in(path: &Path) -> io::Result<Vec<(u64, u64)>> {
    let mut slabs = Vec::new();
    for file in fs::read_dir(path)? {
        let file = file?;
        let name = file.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("slab-"));
        if let Some(slab) = number.and_then(|number| u64::from_str_radix(number, 16).ok()) {
            slabs.push((slab, file.metadata()?.len()));
        }
    }
    Ok(slabs)
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}
