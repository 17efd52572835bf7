use super::*;
use object_store::memory::InMemory;
use stoa_meta::SegmentId;

#[tokio::test]
async fn a_segment_of_another_is_never_overwritten() {
    let store = InMemory::new();
    let segment = NewSegment { id: SegmentId::new(1, 0), stored_bytes: 4, data_bytes: 4 };
    let theirs = PutPayload::from("theirs");
    let ours: PutPayload = ["ou", "rs"].map(bytes::Bytes::from).into_iter().collect();
    assert!(matches!(put(&store, segment, &theirs).await, Ok(Put::Done)));
    assert!(matches!(put(&store, segment, &ours).await, Ok(Put::Foreign)));
    let there = store.get(&segment_path(segment.id)).await.unwrap().bytes().await.unwrap();
    assert_eq!(there.as_ref(), b"theirs");
}

#[tokio::test]
async fn ones_own_segment_is_recognised() {
    let store = InMemory::new();
    let segment = NewSegment { id: SegmentId::new(1, 0), stored_bytes: 4, data_bytes: 4 };
    let ours: PutPayload = ["ou", "rs"].map(bytes::Bytes::from).into_iter().collect();
    for _ in 0..2 {
        assert!(matches!(put(&store, segment, &ours).await, Ok(Put::Done)));
    }
    assert!(!is_same(b"ours and more", &ours));
    assert!(!is_same(b"our", &ours));
}
