//! Listings cost their pages, and nothing for each object.

use crate::setting::{over_objects, requests};
use anyhow::{Result, ensure};
use std::time::Duration;
use stoa_tests::command::shell;
use stoa_tests::scale;

const LIMIT: Duration = Duration::from_secs(120);

/// Objects of a directory: in CI three pages of a listing, in the long run ten.
fn count() -> usize {
    scale::pick(2_500, 10_000)
}

#[test]
fn ls_l_costs_the_pages_of_the_listing() -> Result<()> {
    let plant =
        |objects: &stoa_tests::Objects| (0..count()).try_for_each(|n| objects.put(&format!("many/f{n}"), b"12345"));
    over_objects("ls-l", &[], plant, |place, _| {
        let pages = count().div_ceil(1000) as u64;
        ensure!(std::fs::read_dir(place.dir())?.count() == 1, "one directory");
        let list = || shell("ls -l many | tail -n +2 | wc -l", place.dir(), LIMIT);
        let (listed, cost) = requests(place, list)?;
        ensure!(listed.trim() == count().to_string(), "{listed}");
        ensure!(cost == pages, "{cost} requests, and {pages} pages");
        let (sizes, again) = requests(place, || shell("find many -type f -size 5c | wc -l", place.dir(), LIMIT))?;
        ensure!(sizes.trim() == count().to_string(), "{sizes}");
        ensure!(again == 0, "{again} requests the second time");
        Ok(())
    })
}

#[test]
fn a_listing_goes_on_where_it_was() -> Result<()> {
    let plant =
        |objects: &stoa_tests::Objects| (0..1200).try_for_each(|n| objects.put(&format!("d{}/f{n}", n % 3), b"x"));
    over_objects("find", &[], plant, |place, _| {
        let found = shell("find . -type f | sort | uniq | wc -l; find . -type d | wc -l", place.dir(), LIMIT)?;
        ensure!(found.split_whitespace().collect::<Vec<_>>() == ["1200", "4"], "{found}");
        Ok(())
    })
}
