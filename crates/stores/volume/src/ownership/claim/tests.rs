use super::*;
use object_store::memory::InMemory;

#[tokio::test]
async fn one_has_it_until_it_is_released() {
    let store = InMemory::new();
    let claim = Claim::take(&store).await.unwrap();
    for refused in [Claim::take(&store).await.unwrap_err(), Claim::check_vacant(&store).await.unwrap_err()] {
        let said = refused.to_string();
        assert!(said.contains("under way since 2") && said.contains("remove every object under"), "{said}");
    }
    claim.release(&store).await;
    Claim::check_vacant(&store).await.unwrap();
    Claim::take(&store).await.unwrap();
}

#[tokio::test]
async fn a_claim_that_was_cut_short_is_a_claim() {
    let store = InMemory::new();
    store.put(&Path::from(CLAIM), "{".into()).await.unwrap();
    let said = Claim::check_vacant(&store).await.unwrap_err().to_string();
    assert!(said.contains("under way since an unknown time"), "{said}");
}

#[tokio::test]
async fn who_claims_what_was_filled_meanwhile_leaves_no_claim() {
    let store = InMemory::new();
    store.put(&Path::from("photo.jpg"), "x".into()).await.unwrap();
    assert!(matches!(Claim::take(&store).await, Err(Error::NotEmpty(_))));
    store.head(&Path::from(CLAIM)).await.unwrap_err();
}

#[tokio::test]
async fn what_a_probe_left_is_in_nobodys_way() {
    let store = InMemory::new();
    store.put(&Path::from(".stoa-probe-1/object"), "x".into()).await.unwrap();
    Claim::check_vacant(&store).await.unwrap();
    Claim::take(&store).await.unwrap();
}
