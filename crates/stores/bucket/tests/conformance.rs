//! The cases of the suite of every store that hold for objects, in the order of the suite. The others need what objects do not have:
//! hard links, holes that cost nothing, files without a name, times of directories. `docs/bucket-conformance.md` is the table of both, which
//! `STOA_WRITE_TABLE=1 cargo test -p stoa-bucket --test conformance` writes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

use std::path::Path;
use std::time::Duration;
use stoa_bucket::{Attributes, Bucket, Options};
use stoa_conformance::Capabilities;
use stoa_conformance::run::CASES;
use stoa_objects::ConnectOptions;
use stoa_objects::testing::S3Server;

const HOLD: &[&str] = &[
    "names::what_is_made_is_found",
    "names::what_is_not_there_is_not_found",
    "names::a_name_is_made_once",
    "names::names_of_255_bytes",
    "names::only_directories_hold_names",
    "names::unlink_removes_files_only",
    "names::names_are_not_folded",
    "names::rmdir_removes_empty_directories_only",
    "names::a_removed_directory_takes_no_names",
    "names::a_name_that_is_made_again_is_another_file",
    "names::directories_know_their_parent",
    "names::directories_nest_deep",
    "rename::a_name_moves",
    "rename::every_pair_of_kinds_replaced",
    "rename::every_pair_of_kinds_not_replaced",
    "rename::a_missing_source_is_not_found",
    "rename::onto_itself_changes_nothing",
    "rename::a_directory_never_moves_into_itself",
    "rename::a_directory_never_replaces_one_it_lies_in",
    "rename::a_removed_directory_takes_nothing",
    "rename::only_directories_take_names",
    "rename::write_new_then_replace",
    "orphans::everything_says_stale",
    "attributes::a_new_inode_belongs_to_its_caller",
    "attributes::a_set_gid_directory_gives_its_group",
    "attributes::directories_keep_their_set_gid_bit",
    "attributes::mode_and_owner_change",
    "attributes::nothing_set_is_nothing_changed",
    "attributes::several_at_once",
    "attributes::times_of_every_age",
    "times::refused_operations_stamp_nothing",
    "times::looking_stamps_nothing_but_access",
    "data::an_empty_file_has_nothing",
    "data::sizes_around_every_edge",
    "data::reads_end_at_the_end",
    "data::a_gap_is_zeros",
    "data::overwrites_win",
    "data::overlapping_unaligned_writes",
    "data::many_small_writes_in_order",
    "data::many_small_writes_in_reverse",
    "data::appends_after_every_sync",
    "data::a_stream_of_64_mib",
    "data::no_bytes_change_nothing",
    "data::handles_see_each_other",
    "data::a_released_handle_is_closed",
    "data::only_regular_files_are_opened",
    "data::content_moves_with_the_name",
    "data::opening_can_truncate",
    "data::many_small_files",
    "truncate::what_is_cut_stays_cut",
    "truncate::what_is_cut_stays_cut_over_syncs",
    "truncate::writing_beyond_a_cut_leaves_zeros_between",
    "truncate::growing_is_zeros",
    "truncate::to_the_same_size_changes_no_bytes",
    "truncate::cut_to_nothing_and_written_again",
    "truncate::an_open_file_can_be_cut",
    "holes::an_empty_file_has_neither",
    "holes::the_end_is_a_hole",
    "holes::punched_and_written_again",
    "holes::only_files_have_holes",
    "fallocate::reserving_grows_with_zeros",
    "fallocate::reserving_can_keep_the_size",
    "fallocate::punching_is_zeros",
    "fallocate::punching_beyond_the_end_keeps_the_size",
    "fallocate::zeroing_is_zeros",
    "fallocate::only_files_are_allocated",
    "fallocate::ranges_that_make_no_sense",
    "symlinks::targets_are_kept",
    "symlinks::targets_are_bytes",
    "symlinks::targets_have_1_to_4095_bytes",
    "symlinks::only_links_are_read",
    "symlinks::links_are_not_followed",
    "directories::an_empty_directory_has_no_entries",
    "directories::entries_carry_kind_inode_and_attributes",
    "directories::only_directories_are_listed",
    "directories::pages_of_any_size",
    "directories::every_cookie_resumes",
    "directories::twenty_thousand_entries",
    "directories::what_stays_is_seen_once_while_others_come_and_go",
    "directories::removing_while_listing_removes_all",
    "directories::renaming_while_listing_keeps_the_others",
    "directories::a_replaced_entry_is_listed_once",
    "durability::closing_reports_no_error_when_there_is_none",
    "durability::writing_goes_on_after_a_sync",
    "durability::syncing_what_is_gone_is_stale",
    "durability::everything_can_be_synced",
    "durability::the_store_says_how_full_it_is",
    "concurrency::one_of_many_makers_wins",
    "concurrency::writers_of_disjoint_ranges",
    "concurrency::readers_never_see_bytes_that_were_not_written",
    "concurrency::directories_never_form_a_circle",
    "concurrency::renames_lose_no_file",
];

const NONE: Capabilities = Capabilities {
    hard_links: false,
    special_files: false,
    unnamed_files: false,
    exchange: false,
    shift_ranges: false,
    xattrs: false,
    acls: false,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_holds_for_objects() {
    for name in HOLD {
        let case = CASES.iter().find(|case| case.name == *name).unwrap_or_else(|| panic!("there is no case {name}"));
        let server = S3Server::start("bucket").await.unwrap();
        let s3 = server.bucket("bucket", &ConnectOptions::default()).unwrap();
        // Whom the cases' files belong to, as nobody else is said.
        let ttl = Duration::from_secs(60);
        let options = Options { attributes: Attributes::Objects, ttl, uid: 1000, gid: 100, ..Options::default() };
        let files = Bucket::open(s3, "", &options).unwrap();
        let done = case.run(files, NONE).await;
        assert!(done.is_ok(), "{done:?}");
    }
}

const HEAD: &str = "# What holds for objects as files

Which cases of the suite that every store has to pass (`crates/vfs/conformance`) hold for a mount of objects with `--attributes objects`: the test
that runs them writes this table. What does not hold, programs can't rely on here; [bucket.md](bucket.md) says why. Hard links, devices
and FIFOs, files without a name, exchanging two names, `fallocate` that moves ranges, and ACLs fail with `ENOTSUP`.

| subject | cases | hold | not |
|---|---:|---:|---|
";

#[test]
fn the_table_says_what_holds() {
    let mut subjects: Vec<(&str, usize, Vec<String>)> = Vec::new();
    for case in CASES {
        let (subject, name) = case.name.split_once("::").unwrap();
        if subjects.last().is_none_or(|(last, ..)| *last != subject) {
            subjects.push((subject, 0, Vec::new()));
        }
        let (_, count, not) = subjects.last_mut().unwrap();
        *count += 1;
        if !HOLD.contains(&case.name) {
            not.push(name.replace('_', " "));
        }
    }
    let row = |(subject, count, not): &(&str, usize, Vec<String>)| {
        format!("| {subject} | {count} | {} | {} |\n", count - not.len(), not.join("; "))
    };
    let table = format!("{HEAD}{}", subjects.iter().map(row).collect::<String>());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/bucket-conformance.md");
    if std::env::var_os("STOA_WRITE_TABLE").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == table, "docs/bucket-conformance.md does not say what holds:\n{table}");
}
