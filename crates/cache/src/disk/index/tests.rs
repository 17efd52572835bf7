use super::{Index, Place};
use crate::disk::entry::Row;

fn index(slabs: u64) -> Index {
    let mut index = Index::default();
    for slab in 0..slabs {
        index.add_slab(slab);
        for at in 0..3 {
            index.add(slab, Row { fingerprint: slab * 10 + at, position: at as u32, len: 7 });
        }
    }
    index
}

#[test]
fn a_slab_takes_its_entries_along_and_no_others() {
    let mut index = index(2);
    // One of the first slab's entries has been written again, to the second.
    index.add(1, Row { fingerprint: 0, position: 99, len: 7 });
    index.remove_slab(0);
    assert_eq!(index.find(0), Some(Place { slab: 1, position: 99, len: 7 }));
    assert_eq!(index.find(1), None);
    assert_eq!((index.slabs(), index.entries(), index.next_slab()), (1, 4, 2));
    index.add(0, Row { fingerprint: 5, position: 0, len: 7 });
    assert_eq!(index.find(5), None, "its slab is gone");
}

#[test]
fn an_entry_that_has_moved_is_not_removed() {
    let mut index = index(1);
    let old = index.find(1).unwrap();
    index.add(0, Row { fingerprint: 1, position: 50, len: 7 });
    index.remove(1, &old);
    assert_eq!(index.find(1).unwrap().position, 50);
    let new = index.find(1).unwrap();
    index.remove(1, &new);
    assert_eq!(index.find(1), None);
}

#[test]
fn the_least_read_of_the_oldest_goes_first() {
    let mut index = index(6);
    assert_eq!(index.victim(), Some(0), "the oldest, when none was read");
    for (slab, hits) in [(0, 8), (1, 4), (2, 9), (3, 8)] {
        let place = Place { slab, position: 0, len: 7 };
        (0..hits).for_each(|_| index.hit(&place));
    }
    assert_eq!(index.victim(), Some(1));
    index.remove_slab(1);
    assert_eq!(index.victim(), Some(4), "slab 4 is among the oldest now, and was never read");
    assert_eq!(Index::default().victim(), None);
}
