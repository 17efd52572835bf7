//! The promises of SEMANTICS.md, one file each, under the promise's number.

mod observability;
mod p01_fsync_is_durable;
mod p02_namespace_is_a_prefix;
mod p03_unmount_loses_nothing;
mod p04_rename_replaces_whole;
mod p05_rewrite_replaces_whole;
mod p06_unlinked_but_open;
mod p07_store_outage;
mod p08_second_mount_refused;
mod p09_take_over_fences;
mod p10_bit_flips_are_found;
mod p11_clear_messages;
mod p12_mount_elsewhere;
mod p13_acls;
mod p14_holes;
mod p15_large;
mod p16_locks;
mod p17_shared_mappings;
mod p18_tmpfile;
mod p19_statfs;
mod p20_mount_helper;
mod p21_idle_is_silent;
mod p22_memory_ceiling;
mod p23_few_requests;
mod p23_streams;
