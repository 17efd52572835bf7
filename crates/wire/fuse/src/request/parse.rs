//! From bytes to [`Op`].

use super::{Create, Dialect, Forgets, Header, Init, Lock, Op, SetAttr};
use crate::raw::{
    AccessIn, BatchForgetIn, CopyFileRangeIn, CreateIn, FallocateIn, FlushIn, ForgetIn, ForgetOne, FsyncIn, GetxattrIn,
    InitExtIn, InitIn, InterruptIn, IoctlIn, LinkIn, LkIn, LseekIn, MkdirIn, MknodIn, OpenIn, PollIn, ReadIn,
    ReleaseIn, Rename2In, RenameIn, SetattrIn, SetxattrExtIn, SetxattrIn, WriteIn,
};
use crate::{Error, MAJOR, MINOR_MIN, Result, Time, flags, opcode};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// `FUSE_FSYNC_FDATASYNC`.
const FSYNC_DATA_ONLY: u32 = 1;
/// `FUSE_LK_FLOCK`.
const LK_FLOCK: u32 = 1;

/// What is left of a request. Bytes after what an operation needs are ignored: newer kernels append fields.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take<T: FromBytes + KnownLayout + Immutable>(&mut self) -> Result<T> {
        let (value, rest) = T::read_from_prefix(self.0).map_err(|_| Error::Truncated)?;
        self.0 = rest;
        Ok(value)
    }

    fn bytes(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(Error::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    fn name(&mut self) -> Result<&'a [u8]> {
        let len = self.0.iter().position(|&byte| byte == 0).ok_or(Error::Name)?;
        let name = self.bytes(len)?;
        self.bytes(1)?;
        Ok(name)
    }
}

impl<'a> Op<'a> {
    /// Reads what `header` announces from `body`, the bytes after it.
    ///
    /// # Errors
    /// [`Error::Truncated`], [`Error::Name`], and [`Error::Version`] for an INIT of another protocol.
    pub fn parse(header: &Header, body: &'a [u8], dialect: Dialect) -> Result<Self> {
        let mut r = Reader(body);
        Ok(match header.opcode {
            opcode::LOOKUP => Self::Lookup { name: r.name()? },
            opcode::FORGET => Self::Forget { count: r.take::<ForgetIn>()?.nlookup },
            opcode::BATCH_FORGET => batch_forget(&mut r)?,
            opcode::GETATTR => Self::GetAttr,
            opcode::STATX => Self::Statx,
            opcode::SETATTR => setattr(&mut r)?,
            opcode::READLINK => Self::ReadLink,
            opcode::UNLINK => Self::Unlink { name: r.name()? },
            opcode::RMDIR => Self::RmDir { name: r.name()? },
            opcode::SYMLINK | opcode::MKNOD | opcode::MKDIR | opcode::LINK => make(header.opcode, &mut r)?,
            opcode::CREATE => Self::Create(create(&mut r)?),
            opcode::TMPFILE => Self::TmpFile(create(&mut r)?),
            opcode::RENAME | opcode::RENAME2 => rename(header.opcode, &mut r)?,
            opcode::OPEN => {
                let open: OpenIn = r.take()?;
                Self::Open { flags: open.flags, open_flags: open.open_flags }
            }
            opcode::OPENDIR => Self::OpenDir,
            opcode::READ | opcode::READDIR | opcode::READDIRPLUS => read(header.opcode, &mut r)?,
            opcode::WRITE => write(&mut r)?,
            opcode::RELEASE => Self::Release { handle: r.take::<ReleaseIn>()?.fh },
            opcode::RELEASEDIR => Self::ReleaseDir,
            opcode::FLUSH => Self::Flush { handle: r.take::<FlushIn>()?.fh },
            opcode::FSYNC => {
                let fsync: FsyncIn = r.take()?;
                Self::Fsync { handle: fsync.fh, data_only: fsync.fsync_flags & FSYNC_DATA_ONLY != 0 }
            }
            opcode::FSYNCDIR => Self::FsyncDir,
            opcode::SETXATTR => setxattr(&mut r, dialect)?,
            opcode::GETXATTR => {
                let get: GetxattrIn = r.take()?;
                Self::GetXattr { name: r.name()?, size: get.size }
            }
            opcode::LISTXATTR => Self::ListXattr { size: r.take::<GetxattrIn>()?.size },
            opcode::REMOVEXATTR => Self::RemoveXattr { name: r.name()? },
            opcode::FALLOCATE | opcode::LSEEK | opcode::COPY_FILE_RANGE | opcode::COPY_FILE_RANGE_64 => {
                range(header.opcode, &mut r)?
            }
            opcode::GETLK | opcode::SETLK | opcode::SETLKW => lock(header.opcode, &mut r)?,
            _ => session(header.opcode, &mut r)?,
        })
    }
}

fn session<'a>(opcode: u32, r: &mut Reader<'a>) -> Result<Op<'a>> {
    Ok(match opcode {
        opcode::INIT => init(r)?,
        opcode::DESTROY => Op::Destroy,
        opcode::STATFS => Op::StatFs,
        opcode::SYNCFS => Op::SyncFs,
        opcode::ACCESS => Op::Access { mask: r.take::<AccessIn>()?.mask },
        opcode::INTERRUPT => Op::Interrupt { unique: r.take::<InterruptIn>()?.unique },
        opcode::BMAP => Op::Bmap,
        opcode::IOCTL => {
            let ioctl: IoctlIn = r.take()?;
            Op::Ioctl { handle: ioctl.fh, cmd: ioctl.cmd }
        }
        opcode::POLL => {
            let poll: PollIn = r.take()?;
            Op::Poll { handle: poll.fh, events: poll.events }
        }
        _ => Op::Unknown,
    })
}

fn init<'a>(r: &mut Reader<'a>) -> Result<Op<'a>> {
    let init: InitIn = r.take()?;
    if init.major != MAJOR || init.minor < MINOR_MIN {
        return Err(Error::Version { major: init.major, minor: init.minor });
    }
    let mut bits = u64::from(init.flags);
    if bits & flags::init::INIT_EXT != 0 {
        bits |= u64::from(r.take::<InitExtIn>()?.flags2) << 32;
    }
    Ok(Op::Init(Init { minor: init.minor, readahead_bytes_max: init.max_readahead, flags: bits }))
}

fn batch_forget<'a>(r: &mut Reader<'a>) -> Result<Op<'a>> {
    let batch: BatchForgetIn = r.take()?;
    let len = (batch.count as usize).checked_mul(size_of::<ForgetOne>()).ok_or(Error::Truncated)?;
    Ok(Op::BatchForget(Forgets(r.bytes(len)?)))
}

fn setattr<'a>(r: &mut Reader<'a>) -> Result<Op<'a>> {
    let set: SetattrIn = r.take()?;
    // Times are signed; the field is not.
    let time = |secs: u64, nanos: u32| Time { secs: secs.cast_signed(), nanos };
    Ok(Op::SetAttr(SetAttr {
        valid: set.valid,
        mode: set.mode,
        uid: set.uid,
        gid: set.gid,
        size: set.size,
        atime: time(set.atime, set.atimensec),
        mtime: time(set.mtime, set.mtimensec),
        ctime: time(set.ctime, set.ctimensec),
    }))
}

fn make<'a>(opcode: u32, r: &mut Reader<'a>) -> Result<Op<'a>> {
    Ok(match opcode {
        opcode::SYMLINK => Op::Symlink { name: r.name()?, target: r.name()? },
        opcode::MKNOD => {
            let make: MknodIn = r.take()?;
            Op::MkNod { mode: make.mode, rdev: make.rdev, umask: make.umask, name: r.name()? }
        }
        opcode::MKDIR => {
            let make: MkdirIn = r.take()?;
            Op::MkDir { mode: make.mode, umask: make.umask, name: r.name()? }
        }
        _ => {
            let link: LinkIn = r.take()?;
            Op::Link { ino: link.oldnodeid, name: r.name()? }
        }
    })
}

fn create<'a>(r: &mut Reader<'a>) -> Result<Create<'a>> {
    let create: CreateIn = r.take()?;
    Ok(Create {
        flags: create.flags,
        open_flags: create.open_flags,
        mode: create.mode,
        umask: create.umask,
        name: r.name()?,
    })
}

fn rename<'a>(opcode: u32, r: &mut Reader<'a>) -> Result<Op<'a>> {
    let (to, flags) = if opcode == opcode::RENAME2 {
        let rename: Rename2In = r.take()?;
        (rename.newdir, rename.flags)
    } else {
        (r.take::<RenameIn>()?.newdir, 0)
    };
    Ok(Op::Rename { name: r.name()?, to, new_name: r.name()?, flags })
}

fn read<'a>(opcode: u32, r: &mut Reader<'a>) -> Result<Op<'a>> {
    let read: ReadIn = r.take()?;
    Ok(match opcode {
        opcode::READ => Op::Read { handle: read.fh, offset: read.offset, size: read.size },
        opcode::READDIR => Op::ReadDir { offset: read.offset, size: read.size },
        _ => Op::ReadDirPlus { offset: read.offset, size: read.size },
    })
}

fn write<'a>(r: &mut Reader<'a>) -> Result<Op<'a>> {
    let write: WriteIn = r.take()?;
    let data = r.bytes(write.size as usize)?;
    Ok(Op::Write { handle: write.fh, offset: write.offset, flags: write.write_flags, data })
}

fn setxattr<'a>(r: &mut Reader<'a>, dialect: Dialect) -> Result<Op<'a>> {
    let set: SetxattrIn = r.take()?;
    let setxattr_flags = if dialect.setxattr_ext { r.take::<SetxattrExtIn>()?.setxattr_flags } else { 0 };
    let name = r.name()?;
    Ok(Op::SetXattr { name, value: r.bytes(set.size as usize)?, flags: set.flags, setxattr_flags })
}

fn range<'a>(opcode: u32, r: &mut Reader<'a>) -> Result<Op<'a>> {
    Ok(match opcode {
        opcode::FALLOCATE => {
            let range: FallocateIn = r.take()?;
            Op::Fallocate { offset: range.offset, len: range.length, mode: range.mode }
        }
        opcode::LSEEK => {
            let seek: LseekIn = r.take()?;
            Op::Lseek { offset: seek.offset, whence: seek.whence }
        }
        _ => {
            let copy: CopyFileRangeIn = r.take()?;
            Op::CopyFileRange {
                offset: copy.off_in,
                to: copy.nodeid_out,
                to_offset: copy.off_out,
                len: copy.len,
                wide: opcode == opcode::COPY_FILE_RANGE_64,
            }
        }
    })
}

fn lock<'a>(opcode: u32, r: &mut Reader<'a>) -> Result<Op<'a>> {
    let raw: LkIn = r.take()?;
    let lock = Lock {
        handle: raw.fh,
        owner: raw.owner,
        start: raw.start,
        end: raw.end,
        kind: raw.kind,
        pid: raw.pid,
        flock: raw.lk_flags & LK_FLOCK != 0,
        wait: opcode == opcode::SETLKW,
    };
    Ok(if opcode == opcode::GETLK { Op::GetLk(lock) } else { Op::SetLk(lock) })
}
