//! Scripts from a seed.

use super::op::{NAME_COUNT, Op, Path, SLOTS, XATTRS};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use stoa_vfs::{Allocate, Caller, Kind, RenameMode, Seek, XattrMode};

/// Files stay below this, so that comparing them is quick.
const OFFSET_MAX: u64 = 4 << 20;
/// The names that are mostly directories'; the others are mostly files'. Without that split most paths would lead nowhere.
const DIR_NAMES: usize = 3;
const FILE_KINDS: [Kind; 6] = [Kind::Regular, Kind::Regular, Kind::Regular, Kind::Symlink, Kind::Symlink, Kind::Fifo];

/// A list of operations, the same for the same seed and length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The operations, in order.
    pub ops: Vec<Op>,
}

impl Script {
    /// The script of `operations` operations that `seed` stands for.
    #[must_use]
    pub fn generate(seed: u64, operations: usize) -> Self {
        let mut generator = Generator { rng: StdRng::seed_from_u64(seed) };
        Self { ops: (0..operations).map(|_| generator.op()).collect() }
    }
}

struct Generator {
    rng: StdRng,
}

impl Generator {
    fn below(&mut self, limit: usize) -> usize {
        self.rng.random_range(0..limit)
    }

    fn one_in(&mut self, times: u32) -> bool {
        self.rng.random_ratio(1, times)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn slot(&mut self) -> usize {
        self.below(SLOTS)
    }

    /// A path that ends in this name; mostly short, so that most of them name something.
    fn path_to(&mut self, name: usize) -> Path {
        let dirs = self.pick(&[0, 0, 0, 0, 1, 1, 1, 2]);
        let mut path: Vec<usize> = (0..dirs).map(|_| self.below(DIR_NAMES)).collect();
        path.push(name);
        Path(path)
    }

    fn path(&mut self) -> Path {
        let name = self.below(NAME_COUNT);
        self.path_to(name)
    }

    /// A path that, now and then, is no file's.
    fn file_path(&mut self) -> Path {
        if self.one_in(8) {
            return self.path();
        }
        let name = DIR_NAMES + self.below(NAME_COUNT - DIR_NAMES);
        self.path_to(name)
    }

    /// A path that, now and then, is no directory's.
    fn dir_path(&mut self) -> Path {
        if self.one_in(8) {
            return self.path();
        }
        let name = self.below(DIR_NAMES);
        self.path_to(name)
    }

    /// A path that may be the root's.
    fn path_or_root(&mut self) -> Path {
        if self.one_in(8) { Path(Vec::new()) } else { self.path() }
    }

    /// Where a range begins: anywhere, near the start, on a page, or about it.
    fn offset(&mut self) -> u64 {
        let offset = self.rng.random_range(0..OFFSET_MAX);
        match self.below(6) {
            0 => offset,
            1 => offset % 5_000,
            2 => offset / 16 / 4096 * 4096,
            3 => (offset / 4096 * 4096).saturating_sub(1),
            4 => offset / 65_536 * 65_536 + 1,
            _ => offset % 100_000,
        }
    }

    fn size(&mut self) -> usize {
        match self.below(5) {
            0 => self.below(10),
            1 => 4096 * self.below(20),
            2 => self.below(200_000),
            _ => self.below(9_000),
        }
    }

    fn mode(&mut self) -> u32 {
        let special = if self.one_in(4) { 0o7000 } else { 0 };
        self.rng.random::<u32>() & (0o777 | special)
    }

    fn op(&mut self) -> Op {
        match self.below(100) {
            0..30 => self.name_op(),
            30..40 => self.slot_op(),
            40..75 => self.data_op(),
            75..87 => self.attribute_op(),
            87..94 => self.xattr_op(),
            _ => self.look_op(),
        }
    }

    fn name_op(&mut self) -> Op {
        match self.below(16) {
            0..5 => {
                let (at, kind) = match self.below(3) {
                    0 => (self.dir_path(), Kind::Directory),
                    _ => (self.file_path(), self.pick(&FILE_KINDS)),
                };
                let caller = Caller { uid: self.pick(&[0, 1000]), gid: self.pick(&[0, 100]) };
                Op::Make { at, kind, mode: self.mode(), umask: self.pick(&[0, 0o022, 0o077]), caller }
            }
            5 | 6 => Op::Link { from: self.file_path(), to: self.file_path() },
            7 | 8 => Op::LinkSlot { slot: self.slot(), to: self.file_path() },
            9..12 => Op::Unlink { at: self.file_path() },
            12 => Op::Rmdir { at: self.dir_path() },
            _ => {
                let modes = [RenameMode::Replace, RenameMode::Replace, RenameMode::NoReplace, RenameMode::Exchange];
                Op::Rename { from: self.path(), to: self.path(), mode: self.pick(&modes) }
            }
        }
    }

    fn slot_op(&mut self) -> Op {
        match self.below(8) {
            0 => Op::Close { slot: self.slot() },
            1 => Op::MakeUnnamed { slot: self.slot(), dir: self.dir_path(), mode: self.mode() },
            _ => Op::Open {
                slot: self.slot(),
                at: self.file_path(),
                write: !self.one_in(6),
                truncate: self.one_in(8),
                clear_privileges: self.one_in(4),
            },
        }
    }

    fn data_op(&mut self) -> Op {
        let slot = self.slot();
        match self.below(20) {
            0..8 => Op::Write {
                slot,
                offset: self.offset(),
                size: self.size(),
                seed: self.rng.random(),
                clear_privileges: self.one_in(4),
            },
            8..11 => Op::Read { slot, offset: self.offset(), size: self.size() },
            11 => Op::Resize { at: self.file_path(), size: self.offset() },
            12 => Op::ResizeSlot { slot, size: self.offset() },
            13..16 => self.fallocate(slot),
            16 => Op::CopyRange {
                from: slot,
                offset: self.offset(),
                to: self.slot(),
                to_offset: self.offset(),
                len: self.size() as u64,
            },
            17 => Op::Seek { slot, offset: self.offset(), what: self.pick(&[Seek::Data, Seek::Hole]) },
            18 => Op::Fsync { slot },
            _ => Op::Flush { slot },
        }
    }

    fn fallocate(&mut self, slot: usize) -> Op {
        let keep_size = self.one_in(2);
        let how = self.pick(&[
            Allocate::Reserve { keep_size },
            Allocate::PunchHole,
            Allocate::PunchHole,
            Allocate::Zero { keep_size },
            Allocate::Collapse,
            Allocate::Insert,
        ]);
        let (mut offset, mut len) = (self.offset(), self.size() as u64);
        if matches!(how, Allocate::Collapse | Allocate::Insert) && !self.one_in(8) {
            // Only whole blocks are taken, so most should be; and near the start, where there is a file.
            offset = offset % 200_000 / 4096 * 4096;
            len = len.min(100_000) / 4096 * 4096;
        }
        Op::Fallocate { slot, offset, len, how }
    }

    fn attribute_op(&mut self) -> Op {
        let at = self.path_or_root();
        match self.below(6) {
            0..3 => Op::Chmod { at, mode: self.mode() },
            3 => Op::SetTimes {
                at,
                secs: self.rng.random_range(-1_000..1_000_000),
                nanos: self.pick(&[0, 1, 999_999_999]),
            },
            _ => {
                let uid = self.one_in(2).then_some(1000 + self.below(3) as u32);
                let gid = self.one_in(2).then_some(100 + self.below(3) as u32);
                Op::Chown { at, uid, gid, clear_privileges: self.one_in(2) }
            }
        }
    }

    fn xattr_op(&mut self) -> Op {
        let (at, name) = (self.path_or_root(), self.below(XATTRS.len()));
        match self.below(8) {
            0..3 => {
                let mode = self.pick(&[XattrMode::Set, XattrMode::Create, XattrMode::Replace]);
                Op::SetXattr { at, name, size: self.size().min(65_000), seed: self.rng.random(), mode }
            }
            3..5 => {
                let user = (!self.one_in(4)).then_some(self.below(3) as u32);
                Op::SetAcl { at, default: self.one_in(2), user, permissions: self.below(8) as u16 }
            }
            5 => Op::GetXattr { at, name },
            // Beyond the plain ones come the two ACLs.
            _ => Op::RemoveXattr { at, name: self.below(XATTRS.len() + 2) },
        }
    }

    fn look_op(&mut self) -> Op {
        let at = self.path_or_root();
        match self.below(8) {
            0 | 1 => Op::List { at, count: 1 + self.below(6) },
            2 | 3 => Op::Getattr { at },
            4 => Op::GetattrSlot { slot: self.slot() },
            5 => Op::Readlink { at: self.file_path() },
            6 => Op::Parent { at },
            _ => Op::Sync,
        }
    }
}
