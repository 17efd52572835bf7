use super::*;
use futures::FutureExt;
use object_store::ObjectStoreExt;

fn denied(location: &Path) -> object_store::Error {
    object_store::Error::PermissionDenied { path: location.to_string(), source: "no right".into() }
}

#[tokio::test]
async fn a_refusal_lasts_until_its_own_kind_is_accepted() {
    let refusals = Refusals::default();
    let (log, table) = (Path::from("meta/wal/1.sst"), Path::from("meta/compacted/1.sst"));
    assert!(refusals.any().now_or_never().is_none());
    refusals.refused(Access::Write, &log, &denied(&log));
    refusals.refused(Access::Write, &table, &denied(&table));
    refusals.accepted(Access::Read, &log);
    refusals.accepted(Access::Write, &Path::from("meta/compacted/2.sst"));
    let Some(Error::Refused(why)) = refusals.any().now_or_never() else { unreachable!() };
    assert!(why.contains("meta/wal/1.sst can't be written") && why.contains("no right"), "{why}");
    refusals.accepted(Access::Write, &Path::from("meta/wal/1.sst"));
    assert!(refusals.current().is_none());
}

#[tokio::test]
async fn a_missing_object_is_an_answer_and_a_missing_bucket_a_refusal() {
    let refusals = Arc::<Refusals>::default();
    let store = refusals.watch(Arc::new(object_store::memory::InMemory::new()));
    let path = Path::from("meta/wal/1.sst");
    store.get(&path).await.unwrap_err();
    assert!(refusals.current().is_none());
    let missing = || object_store::Error::NotFound { path: "bucket".into(), source: "no such container".into() };
    // SlateDB gives up on what is not found.
    assert!(!matches!(watched::missing_place(missing()), object_store::Error::NotFound { .. }));
    let put: object_store::Result<()> = Err(watched::missing_place(missing()));
    refusals.note(Access::Write, &path, put).unwrap_err();
    assert!(refusals.current().is_some());
}
