//! The S3 client of exact keys: the same cases against the S3 server of this crate and against versitygw, an independent
//! one. What a server can't do is named in its [`server::Can`], and tested to be refused where that can be.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "the functions that only prepare a test, too"
)]

#[path = "s3_client/conditions.rs"]
mod conditions;
#[path = "s3_client/copies.rs"]
mod copies;
#[path = "s3_client/faults.rs"]
mod faults;
#[path = "s3_client/keys.rs"]
mod keys;
#[path = "s3_client/listings.rs"]
mod listings;
#[path = "s3_client/objects.rs"]
mod objects;
#[path = "s3_client/server.rs"]
mod server;
#[path = "s3_client/uploads.rs"]
mod uploads;
#[path = "s3_client/versions.rs"]
mod versions;

use server::{Server, Versitygw};

async fn all(server: &Server) {
    let bucket = &server.bucket;
    objects::objects_come_back(bucket).await;
    objects::ranges(bucket).await;
    objects::headers_come_back(server).await;
    objects::tags(bucket).await;
    objects::missing_things_are_told_apart(server).await;
    keys::every_key_comes_back(server).await;
    keys::many_are_deleted_at_once(server).await;
    conditions::puts(bucket).await;
    conditions::deletes(server).await;
    conditions::copies(server).await;
    conditions::completions(server).await;
    copies::headers_are_kept_or_replaced(server).await;
    copies::sources_have_conditions(bucket).await;
    listings::pages_make_up_the_whole(bucket).await;
    uploads::parts_are_sent_and_copied(bucket).await;
    uploads::uploads_are_listed_and_aborted(bucket).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_process() {
    all(&Server::in_process().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_process_with_versions() {
    let server = Server::in_process_with_versions().await;
    versions::versions_are_kept_listed_and_deleted(&server).await;
    all(&server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn versitygw() {
    let Some(running) = Versitygw::start(false) else {
        return;
    };
    all(&running.server().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn versitygw_with_versions() {
    let Some(running) = Versitygw::start(true) else {
        return;
    };
    let server = running.server().await;
    running.keep_versions();
    versions::versions_are_kept_listed_and_deleted(&server).await;
    all(&server).await;
}
