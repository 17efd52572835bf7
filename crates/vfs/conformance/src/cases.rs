//! The cases, by subject, and the one list of them.
//!
//! A case is an async function over [`crate::fs::Fs`], which starts as an empty store. What a store cannot do at all is
//! left out by [`crate::Capabilities`].

pub mod acl;
pub mod attributes;
pub mod concurrency;
pub mod copy_range;
pub mod data;
pub mod directories;
pub mod durability;
pub mod fallocate;
pub mod holes;
pub mod links;
pub mod names;
pub mod orphans;
pub mod rename;
pub mod special;
pub mod symlinks;
pub mod times;
pub mod truncate;
pub mod xattrs;

/// Hands every case to the macro `$then`, by subject, after `$context`. A new case is run only once it stands here;
/// `tests/complete.rs` fails as long as it does not.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_cases {
    ($then:ident, $context:tt) => {
        $crate::$then! {
            $context
            names {
                what_is_made_is_found,
                what_is_not_there_is_not_found,
                a_name_is_made_once,
                names_of_255_bytes,
                names_of_every_byte,
                names_are_not_folded,
                only_directories_hold_names,
                unlink_removes_files_only,
                rmdir_removes_empty_directories_only,
                a_removed_directory_takes_no_names,
                a_name_that_is_made_again_is_another_file,
                directories_know_their_parent,
                directories_nest_deep,
                same_name_in_different_directories,
            }
            links {
                two_names_are_one_file,
                the_last_name_keeps_the_file,
                directories_have_one_name,
                a_link_replaces_nothing,
                symlinks_and_special_files_can_be_linked,
                many_links,
                a_file_that_lost_its_last_name_gets_no_other,
                an_unnamed_file_can_be_named,
                an_unnamed_file_goes_with_its_last_reference,
                only_regular_files_can_be_unnamed,
            }
            rename {
                a_name_moves,
                every_pair_of_kinds_replaced,
                every_pair_of_kinds_not_replaced,
                every_pair_of_kinds_exchanged,
                exchange_needs_both,
                exchange_across_directories_moves_parents,
                a_missing_source_is_not_found,
                onto_itself_changes_nothing,
                two_names_of_one_file_both_stay,
                a_linked_file_loses_only_the_replaced_name,
                a_directory_never_moves_into_itself,
                a_directory_never_replaces_one_it_lies_in,
                directories_move_with_their_parent_and_links,
                a_removed_directory_takes_nothing,
                only_directories_take_names,
                write_new_then_replace,
            }
            orphans {
                an_unlinked_open_file_lives,
                every_handle_keeps_it,
                an_unlinked_referenced_file_lives,
                forget_counts_references,
                listed_entries_are_references,
                everything_says_stale,
                a_named_file_needs_no_reference,
                a_removed_directory_is_empty_and_then_stale,
                a_replaced_file_lives_while_open,
                a_replaced_directory_goes,
                the_root_is_never_forgotten,
            }
            attributes {
                the_root_is_a_directory,
                a_new_inode_belongs_to_its_caller,
                a_set_gid_directory_gives_its_group,
                directories_count_subdirectories,
                mode_and_owner_change,
                nothing_set_is_nothing_changed,
                all_or_none,
                several_at_once,
                times_of_every_age,
                a_given_change_time_is_taken,
                privileges_are_cleared_when_asked,
                writing_clears_privileges_when_asked,
                capabilities_go_with_privileges,
                directories_keep_their_set_gid_bit,
            }
            times {
                a_new_inode_is_made_now,
                making_stamps_the_directory,
                removing_stamps_directory_and_inode,
                linking_stamps_directory_and_inode,
                renaming_stamps_directories_and_inode,
                exchanging_stamps_all,
                refused_operations_stamp_nothing,
                looking_stamps_nothing_but_access,
                writing_stamps_the_content,
                sizing_stamps_the_content,
                changing_attributes_stamps_the_status,
                copying_stamps_the_target,
            }
            data {
                an_empty_file_has_nothing,
                sizes_around_every_edge,
                reads_end_at_the_end,
                a_gap_is_zeros,
                overwrites_win,
                overlapping_unaligned_writes,
                many_small_writes_in_order,
                many_small_writes_in_reverse,
                appends_after_every_sync,
                a_stream_of_64_mib,
                offsets_to_the_very_end,
                no_bytes_change_nothing,
                handles_see_each_other,
                a_released_handle_is_closed,
                opening_can_truncate,
                only_regular_files_are_opened,
                content_moves_with_the_name,
                many_small_files,
                blocks_count_what_is_written,
            }
            truncate {
                what_is_cut_stays_cut,
                what_is_cut_stays_cut_over_syncs,
                writing_beyond_a_cut_leaves_zeros_between,
                growing_is_zeros,
                to_the_same_size_changes_no_bytes,
                cut_to_nothing_and_written_again,
                an_open_file_can_be_cut,
                huge_sizes,
                only_files_have_a_size_to_set,
            }
            holes {
                an_empty_file_has_neither,
                the_end_is_a_hole,
                a_file_without_data_is_a_hole,
                written_bytes_are_never_in_a_hole,
                ranges_alternate_and_reach_the_end,
                punched_and_written_again,
                only_files_have_holes,
            }
            fallocate {
                reserving_grows_with_zeros,
                reserving_can_keep_the_size,
                punching_is_zeros,
                punching_beyond_the_end_keeps_the_size,
                zeroing_is_zeros,
                collapsing_moves_down,
                inserting_moves_up,
                only_whole_blocks_inside_the_file_move,
                ranges_that_make_no_sense,
                only_files_are_allocated,
            }
            copy_range {
                a_whole_file,
                copies_part_ways,
                over_other_bytes_at_any_offset,
                ends_with_the_source,
                inside_one_file,
                holes_are_copied_as_zeros,
                a_huge_hole_costs_nothing,
                beyond_the_largest_file,
                only_files_are_copied,
            }
            xattrs {
                set_get_list_remove,
                create_and_replace,
                values_of_every_size,
                names_of_every_kind,
                many_attributes,
                every_kind_of_inode_has_its_own,
                they_stay_with_the_inode,
            }
            acl {
                an_access_acl_sets_the_mode,
                a_minimal_acl_is_only_a_mode,
                chmod_changes_the_mask,
                files_inherit_a_default_acl,
                directories_pass_a_default_acl_on,
                a_minimal_default_acl_replaces_the_umask,
                removing_keeps_the_mode,
                set_gid_goes_for_strangers_to_the_group,
                only_valid_lists_are_taken,
                only_directories_have_defaults,
            }
            symlinks {
                targets_are_kept,
                targets_are_bytes,
                targets_have_1_to_4095_bytes,
                only_links_are_read,
                links_are_not_followed,
            }
            special {
                they_are_what_they_were_made,
                they_move_and_go_like_files,
                they_have_no_content,
                other_kinds_are_not_special,
            }
            directories {
                an_empty_directory_has_no_entries,
                only_directories_are_listed,
                pages_of_any_size,
                every_cookie_resumes,
                entries_carry_kind_inode_and_attributes,
                twenty_thousand_entries,
                what_stays_is_seen_once_while_others_come_and_go,
                removing_while_listing_removes_all,
                renaming_while_listing_keeps_the_others,
                a_replaced_entry_is_listed_once,
            }
            durability {
                everything_can_be_synced,
                closing_reports_no_error_when_there_is_none,
                writing_goes_on_after_a_sync,
                syncing_what_is_gone_is_stale,
                the_store_says_how_full_it_is,
            }
            concurrency {
                one_of_many_makers_wins,
                makers_fill_one_directory,
                writers_of_disjoint_ranges,
                readers_never_see_bytes_that_were_not_written,
                a_replaced_name_is_always_there,
                directories_never_form_a_circle,
                renames_lose_no_file,
                links_are_counted,
                everything_at_once_on_few_names,
            }
        }
    };
}
