use super::*;

fn put(pending: &Pending, ino: u64, len: usize) {
    let mut transaction = Transaction::default();
    transaction.put(&RecordKey::Inode(Ino(ino)), Bytes::from(vec![0; len]));
    pending.apply(transaction);
}

#[test]
fn a_record_counts_once_and_more_than_its_bytes() {
    let pending = Pending::new(Superblock { next_ino: 2, inodes: 1, data_bytes: 0, labelled: false });
    put(&pending, 1, 100);
    assert_eq!(pending.bytes(), 9 + 100 + RECORD_OVERHEAD);
    put(&pending, 1, 50);
    assert_eq!(pending.bytes(), 9 + 50 + RECORD_OVERHEAD);
    put(&pending, 2, 0);
    assert_eq!(pending.bytes(), 9 + 50 + 9 + 2 * RECORD_OVERHEAD);
    pending.take();
    assert_eq!(pending.bytes(), 0);
}

#[test]
fn a_key_is_unchanged_until_it_changes_or_a_commit_is_shown() {
    let pending = Pending::new(Superblock { next_ino: 2, inodes: 1, data_bytes: 0, labelled: false });
    let shown = pending.commits_shown();
    let key = RecordKey::Inode(Ino(1)).encode();
    put(&pending, 2, 0);
    assert!(pending.is_unchanged(&key, shown));
    put(&pending, 1, 0);
    assert!(!pending.is_unchanged(&key, shown));
    pending.take();
    assert!(!pending.is_unchanged(&key, shown));
    pending.shown();
    assert!(!pending.is_unchanged(&key, shown));
    assert!(pending.is_unchanged(&key, pending.commits_shown()));
}
