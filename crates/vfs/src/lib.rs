//! The waist of Stoa: one asynchronous file-system trait, [`Vfs`], and its types.
//!
//! Every store implements the trait and every door calls it; neither knows the other. Nothing here does
//! any IO. Files are addressed by inode number ([`Ino`]), names are bytes ([`Name`]), and every operation has the
//! meaning POSIX.1-2024 gives it, with the Linux extensions named at each method.

mod acl;
mod attr;
mod error;
mod handles;
mod name;
mod vfs;

pub use acl::{ACL_ACCESS, ACL_DEFAULT, Acl, AclEntry, AclTag, Inherited};
pub use attr::{
    Attr, Entry, Ino, Kind, NAME_MAX, PERMISSIONS, SetAttr, SetTime, StatFs, Timestamp, without_privileges,
};
pub use error::{Error, Result};
pub use handles::Handles;
pub use name::Name;
pub use vfs::{
    Allocate, CachePolicy, Caller, Cookie, DirEntry, DirPage, Handle, Make, Node, OpenFlags, RenameMode, Seek, Vfs,
    WriteFlags, XattrMode,
};
