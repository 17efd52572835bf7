//! 23, for large files: what streams and small reads cost, in requests, bytes and operations of the kernel.
//!
//! Counts, not seconds. Measured for 64 MiB are: written with 80 operations of the kernel and 5 requests, 64.03 MiB; read with 74 and
//! 14, 65 MiB; 32 random reads of 4 KiB with 37 and 32, 128 KiB each.

use anyhow::{Context, Result, ensure};
use rand::rngs::SmallRng;
use rand::{RngCore, SeedableRng};
use serde_json::Value;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use stoa_tests::command::note;
use stoa_tests::{Place, Setup, StoreKind, content, in_place, scale};

const MIB: u64 = 1 << 20;
const SIZE: u64 = 64 * MIB;
const READS: u64 = 32;

/// What was counted since a mount began, of the mount and at its store.
#[derive(Debug, Clone, Copy)]
struct Cost {
    operations: u64,
    requests: u64,
    bytes_in: u64,
    bytes_out: u64,
}

impl Cost {
    fn of(place: &mut Place) -> Result<Self> {
        let status = place.status()?;
        let bytes = |field: &str| {
            status.pointer(&format!("/0/store_health/{field}")).and_then(Value::as_u64).context("a field is missing")
        };
        let profile = place.stoa_on("profile", &["--json"], place.dir())?;
        let profile: Value = serde_json::from_str(&profile.stdout).with_context(|| profile.quoted())?;
        let operations = profile.get("operations").and_then(Value::as_array).context("no operations")?;
        Ok(Self {
            operations: operations.iter().filter_map(|operation| operation.get("count")?.as_u64()).sum(),
            requests: place.store()?.requests()?,
            bytes_in: bytes("bytes_in")?,
            bytes_out: bytes("bytes_out")?,
        })
    }
}

/// Does `work`, and fails if it costs more than `most`.
fn expect(place: &mut Place, doing: &str, most: Cost, work: impl FnOnce(&mut Place) -> Result<()>) -> Result<()> {
    let before = Cost::of(place)?;
    work(place)?;
    let after = Cost::of(place)?;
    let cost = Cost {
        operations: after.operations - before.operations,
        requests: after.requests - before.requests,
        bytes_in: after.bytes_in - before.bytes_in,
        bytes_out: after.bytes_out - before.bytes_out,
    };
    note(&format!("{doing}: {cost:?}"));
    let enough = cost.operations <= most.operations
        && cost.requests <= most.requests
        && cost.bytes_in <= most.bytes_in
        && cost.bytes_out <= most.bytes_out;
    ensure!(enough, "{doing} took {cost:?}, and should not take more than {most:?}");
    Ok(())
}

#[test]
fn p23_streams_and_small_reads() -> Result<()> {
    in_place(Setup::new("p23-streams").store(StoreKind::S3s).limit(scale::minutes(3, 3)), |place| {
        let mut data = vec![0; usize::try_from(SIZE)?];
        SmallRng::seed_from_u64(23).fill_bytes(&mut data);
        let path = place.path("file");

        let writing = Cost { operations: 120, requests: 12, bytes_in: MIB, bytes_out: SIZE + SIZE / 50 };
        expect(place, "writing", writing, |_| {
            let mut file = File::create(&path)?;
            data.chunks(1 << 20).try_for_each(|part| file.write_all(part))?;
            Ok(file.sync_all()?)
        })?;

        place.remount()?;
        let reading = Cost { operations: 150, requests: 30, bytes_in: SIZE + SIZE / 20, bytes_out: MIB };
        expect(place, "reading", reading, |_| {
            let (mut file, mut found) = (File::open(&path)?, Vec::with_capacity(data.len()));
            file.read_to_end(&mut found)?;
            content::same(&found, &data)
        })?;

        place.remount()?;
        // One for opening the file, a few for names and extents, and care for tables.
        let random = Cost {
            operations: 2 * READS + 20,
            requests: READS + 20,
            bytes_in: READS * 200 * 1024 + MIB,
            bytes_out: MIB,
        };
        expect(place, "random reads", random, |_| {
            let file = File::open(&path)?;
            let mut rng = SmallRng::seed_from_u64(24);
            let mut page = [0; 4096];
            for _ in 0..READS {
                let offset = u64::from(rng.next_u32()) % (SIZE / 4096) * 4096;
                file.read_exact_at(&mut page, offset)?;
                let start = usize::try_from(offset)?;
                content::same(&page, data.get(start..start + page.len()).context("offset")?)?;
            }
            Ok(())
        })
    })
}
