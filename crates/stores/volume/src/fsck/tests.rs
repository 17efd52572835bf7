//! Each plants one kind of damage in a volume, and sees that it is named, that a repair brings back the very records that were there,
//! or, where that could lose something, that it touches nothing.

mod names;
mod planted;
mod segments;
mod values;

use planted::Planted;

#[tokio::test]
async fn an_undamaged_volume_is_clean() {
    let planted = Planted::new().await;
    planted.check(&[]).await;
}
