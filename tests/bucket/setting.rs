//! Where the tests work.

use anyhow::{Context, Result};
use stoa_tests::{Objects, Place, Setup, StoreKind, in_place, scale};

/// Runs a test over objects that `plant` made, mounted with `args`, on every S3 server there is.
pub(crate) fn over_objects(
    name: &'static str,
    args: &[&str],
    plant: impl Fn(&Objects) -> Result<()>,
    test: impl Fn(&mut Place, &Objects) -> Result<()>,
) -> Result<()> {
    on_all_servers(|store| over_objects_in(name, store, args, &plant, &test))
}

/// Runs a test on every S3 server there is: the one in this process, and those that are installed.
pub(crate) fn on_all_servers(test: impl Fn(StoreKind) -> Result<()>) -> Result<()> {
    StoreKind::s3_servers().try_for_each(test)
}

/// As [`over_objects`], on one server.
pub(crate) fn over_objects_in(
    name: &'static str,
    store: StoreKind,
    args: &[&str],
    plant: impl Fn(&Objects) -> Result<()>,
    test: impl Fn(&mut Place, &Objects) -> Result<()>,
) -> Result<()> {
    in_place(Setup::new(name).store(store).empty().limit(scale::minutes(3, 60)), |place| {
        let objects = Objects::of(place.store()?)?;
        plant(&objects)?;
        place.mount(&[&["--objects"], args].concat())?;
        test(place, &objects)?;
        place.unmount()
    })
    .with_context(|| format!("on {store:?}"))
}

/// Requests sent by the mount, and bytes received.
pub(crate) fn traffic(place: &Place) -> Result<(u64, u64)> {
    Ok((counted(place, "requests")?, counted(place, "bytes_in")?))
}

/// Bytes that the mount has received and sent.
pub(crate) fn bytes_moved(place: &Place) -> Result<(u64, u64)> {
    Ok((counted(place, "bytes_in")?, counted(place, "bytes_out")?))
}

fn counted(place: &Place, what: &str) -> Result<u64> {
    let status = place.status()?;
    let count = status.pointer(&format!("/0/store_health/{what}")).and_then(serde_json::Value::as_u64);
    count.with_context(|| format!("the status does not count {what}"))
}

/// The requests that `work` costs.
pub(crate) fn requests<T>(place: &Place, work: impl FnOnce() -> Result<T>) -> Result<(T, u64)> {
    let before = traffic(place)?.0;
    let done = work()?;
    Ok((done, traffic(place)?.0 - before))
}

/// Bytes without a period that a page could hide.
pub(crate) fn pattern(seed: u8, len: usize) -> Vec<u8> {
    (0..len).map(|at| seed ^ (at * 31 + (at >> 8) * 17 + (at >> 16) * 5) as u8).collect()
}
