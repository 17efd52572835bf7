//! What S3 takes, as the Amazon S3 User Guide says, by its chapters. Other servers may take more, or less.

/// The longest key, in bytes of UTF-8 ("Naming Amazon S3 objects").
pub const KEY_BYTES_MAX: usize = 1 << 10;

/// The most user metadata of an object, in bytes: names, without `x-amz-meta-`, and values together ("Working with object metadata").
pub const METADATA_BYTES_MAX: usize = 2 << 10;

/// So many parts has an object at most, and so high are their numbers ("Amazon S3 multipart upload limits").
pub const PARTS_MAX: u32 = 10_000;

/// The shortest part that is not the last, in bytes ("Amazon S3 multipart upload limits").
pub const PART_BYTES_MIN: u64 = 5 << 20;

/// The longest object, or part of one, that is copied in one request, in bytes ("Copying, moving, and renaming objects").
pub const COPY_BYTES_MAX: u64 = 5 << 30;
