//! A shared, writable memory mapping of a file.

use anyhow::{Result, ensure};
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags};
use std::ffi::c_void;
use std::fs::File;

/// A file mapped with `MAP_SHARED`, and unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    start: *mut c_void,
    len: usize,
}

impl Mapping {
    /// Maps the first `len` bytes of `file`, which must be that long and stay so.
    ///
    /// # Errors
    /// If the file is shorter, or can't be mapped.
    pub fn shared(file: &File, len: usize) -> Result<Self> {
        ensure!(usize::try_from(file.metadata()?.len())? >= len, "the file is shorter than its mapping");
        // SAFETY: the kernel chooses the address, so no memory of ours is replaced.
        let start = unsafe {
            rustix::mm::mmap(std::ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, file, 0)
        }?;
        Ok(Self { start, len })
    }

    /// Writes `bytes` at `offset`, through memory.
    ///
    /// # Errors
    /// If they do not fit.
    pub fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<()> {
        ensure!(offset.checked_add(bytes.len()).is_some_and(|end| end <= self.len), "beyond the mapping");
        // SAFETY: the range lies in the mapping, which is ours alone (&mut) and can't overlap a Rust slice.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.cast::<u8>().add(offset), bytes.len()) };
        Ok(())
    }

    /// Copies `len` bytes at `offset` out of memory.
    ///
    /// # Errors
    /// If there are not so many.
    pub fn read(&self, offset: usize, len: usize) -> Result<Vec<u8>> {
        ensure!(offset.checked_add(len).is_some_and(|end| end <= self.len), "beyond the mapping");
        let mut bytes = vec![0; len];
        // SAFETY: as in `write`; another process may change the bytes under way, which a byte copy survives.
        unsafe { std::ptr::copy_nonoverlapping(self.start.cast::<u8>().add(offset), bytes.as_mut_ptr(), len) };
        Ok(bytes)
    }

    /// `msync(MS_SYNC)`.
    ///
    /// # Errors
    /// If it fails.
    pub fn sync(&self) -> Result<()> {
        // SAFETY: the range is the mapping.
        unsafe { rustix::mm::msync(self.start, self.len, MsyncFlags::SYNC) }?;
        Ok(())
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: nothing borrows the mapping any more. munmap of a whole mapping does not fail.
        let _ = unsafe { rustix::mm::munmap(self.start, self.len) };
    }
}
