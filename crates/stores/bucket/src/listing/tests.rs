use super::cookie::HASH_MAX;
use super::mark::Mark;
use super::*;
use crate::Options;
use crate::directory::Directory;
use crate::found::Finder;
use stoa_vfs::Name;

const TTL: Duration = Duration::from_secs(10);

#[tokio::test(start_paused = true)]
async fn a_pass_is_shared_for_its_time_and_then_begun_anew() {
    let listing = Listing::default();
    let begin = || listing.resume(Cookie::START, TTL).unwrap().0;
    let first = begin();
    tokio::time::advance(Duration::from_secs(9)).await;
    assert_eq!(begin().id, first.id);
    tokio::time::advance(Duration::from_secs(2)).await;
    let second = begin();
    assert_ne!(second.id, first.id);
    // Who is on the first goes on with it.
    let cookie = first.cookie(3, 77).unwrap();
    let (scan, place) = listing.resume(cookie, TTL).unwrap();
    assert_eq!((scan.id, place), (first.id, Place { page: 3, hash: 77 }));
    assert_eq!(listing.recent(TTL).map(|scan| scan.id), Some(second.id));
    tokio::time::advance(TTL).await;
    assert!(listing.recent(TTL).is_none());
}

#[tokio::test(start_paused = true)]
async fn the_pass_that_nobody_is_on_is_given_up() {
    let listing = Listing::default();
    let mut used = Cookie::START;
    for round in 0..100 {
        let (scan, _) = listing.resume(Cookie::START, Duration::ZERO).unwrap();
        if round == 0 {
            used = scan.cookie(0, 5).unwrap();
        }
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(listing.resume(used, TTL).is_ok(), "round {round}");
    }
    assert_eq!(listing.scans.lock().scans.len(), SCANS_MAX);
    let given_up = Place { page: 0, hash: 5 }.cookie(1).unwrap();
    assert!(matches!(listing.resume(given_up, TTL), Err(Error::Io(_))));
}

#[tokio::test]
async fn keys_are_covered_as_far_as_pages_were_fetched() {
    let scan = Scan::new(0);
    assert_eq!(scan.covering("a"), None);
    let mark = |after: &str| Some(Mark { after: after.to_owned(), ..Mark::default() });
    scan.marks.lock().reached(mark("f"));
    assert_eq!(["a", "f", "g"].map(|key| scan.covering(key)), [Some(0), Some(0), None]);
    scan.marks.lock().reached(mark("k"));
    scan.marks.lock().reached(None);
    assert_eq!(["a", "f", "g", "k", "z"].map(|key| scan.covering(key)), [Some(0), Some(0), Some(1), Some(1), Some(2)]);
}

#[test]
fn pages_are_ordered_by_hashes_that_are_all_different() {
    let finder = Finder::new(&Options::default());
    let name = |n: usize| Name::new(format!("{n}")).unwrap();
    let found = |n: usize| finder.directory(Directory::new(&format!("{n}/")), None);
    let page = Page::new((0..5000).map(|n| (name(n), found(n))), true);
    let all = page.after(0);
    assert_eq!(all.len(), 5000);
    assert!(all.is_sorted_by(|one, next| one.hash < next.hash));
    assert!(all.iter().all(|entry| (3..=HASH_MAX).contains(&entry.hash)));
    for n in 0..5000 {
        assert_eq!(page.find(&name(n)), Some(&found(n)));
    }
    assert_eq!(page.find(&name(5000)), None);
    assert_eq!(page.after(all[9].hash).len(), 4990);
}
