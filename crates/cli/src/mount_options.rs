//! The words of `-o`: what mount(8) and /etc/fstab pass, what FUSE programs take, and our own long flags.
//!
//! A word that would change how the mount behaves is obeyed or refused by name, never passed over in silence. A refused word is
//! named without its value, which could be a secret that someone put in the wrong place.

use crate::failure::{Failure, Outcome};

/// What the words say about the mount itself. `None` is the door's default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct MountWords {
    /// `ro`, `rw`: refuse every change.
    pub(crate) read_only: Option<bool>,
    /// `allow_other`, `noallow_other`: whether other users see the mount.
    pub(crate) allow_other: Option<bool>,
    /// `suid`, `nosuid`: whether set-uid programs act as their owner.
    pub(crate) suid: Option<bool>,
    /// `dev`, `nodev`: whether device files are devices.
    pub(crate) dev: Option<bool>,
    /// `noexec`, `exec`: whether programs can't be run.
    pub(crate) noexec: Option<bool>,
    /// `noatime`, `atime`: whether times of last access never change.
    pub(crate) noatime: Option<bool>,
}

/// `-o` texts taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Words {
    /// What concerns the mount itself.
    pub(crate) mount: MountWords,
    /// The others, as the long flags they stand for: `memory=1G` as `--memory=1G`.
    pub(crate) flags: Vec<String>,
}

/// Whether a long flag has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arity {
    /// It has none.
    Switch,
    /// It may have one.
    Optional,
    /// It needs one.
    Value,
}

/// What a word means.
enum Meaning {
    /// It sets something of [`MountWords`].
    Set,
    /// It is for mount(8) or systemd, or asks for what is so anyway.
    Nothing,
    /// It asks for what can't be had; the text says what to do.
    Refused(&'static str),
    /// It is none of the known ones.
    Unknown,
}

/// Takes `texts` apart, each a list with commas; `\,` is a comma inside a word. `arity` says whether a word is a long
/// flag, and whether that has a value. With `sloppy` (mount -s), unknown words are passed over.
pub(crate) fn split(texts: &[String], arity: impl Fn(&str) -> Option<Arity>, sloppy: bool) -> Outcome<Words> {
    let mut words = Words::default();
    let mut nodiratime = false;
    for word in texts.iter().flat_map(|text| unjoin(text)).filter(|word| !word.is_empty()) {
        let (name, value) = word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        nodiratime |= name == "nodiratime";
        match (set(&mut words.mount, name), value) {
            (Meaning::Set, None) | (Meaning::Nothing, _) => {}
            (Meaning::Set, Some(_)) => return Err(Failure::usage(format!("mount option {name} takes no value"))),
            (Meaning::Refused(advice), _) => {
                return Err(Failure::usage(format!("mount option {name} is not supported")).advise(advice));
            }
            (Meaning::Unknown, _) => match (flag(name, value, &arity)?, sloppy) {
                (Some(flag), _) => words.flags.push(flag),
                (None, true) => {}
                (None, false) => {
                    return Err(Failure::usage(format!("unknown mount option '{name}'"))
                        .advise("`stoa mount --help` lists them"));
                }
            },
        }
    }
    if nodiratime && words.mount.noatime != Some(true) {
        return Err(
            Failure::usage("mount option nodiratime is not supported alone").advise("use noatime, which implies it")
        );
    }
    Ok(words)
}

fn set(mount: &mut MountWords, name: &str) -> Meaning {
    let (field, value) = match name {
        "ro" => (&mut mount.read_only, true),
        "rw" => (&mut mount.read_only, false),
        "allow_other" => (&mut mount.allow_other, true),
        "noallow_other" => (&mut mount.allow_other, false),
        "suid" => (&mut mount.suid, true),
        "nosuid" => (&mut mount.suid, false),
        "dev" => (&mut mount.dev, true),
        "nodev" => (&mut mount.dev, false),
        "noexec" => (&mut mount.noexec, true),
        "exec" => (&mut mount.noexec, false),
        "noatime" => (&mut mount.noatime, true),
        "atime" | "relatime" => (&mut mount.noatime, false),
        _ => return other(name),
    };
    *field = Some(value);
    Meaning::Set
}

fn other(name: &str) -> Meaning {
    match name {
        // For mount(8), systemd and fsck(8).
        "defaults" | "auto" | "noauto" | "user" | "users" | "nouser" | "owner" | "group" | "_netdev" | "nofail"
        | "comment" | "uhelper" | "helper" => Meaning::Nothing,
        _ if name.starts_with("x-") || name.starts_with("X-") => Meaning::Nothing,
        // So anyway: the kernel always checks permissions, and writes are always gathered.
        "default_permissions"
        | "async"
        | "nodiratime"
        | "diratime"
        | "nostrictatime"
        | "nolazytime"
        | "lazytime"
        | "nomand"
        | "noiversion"
        | "symfollow"
        | "nonempty"
        | "loud"
        | "silent"
        | "subtype"
        | "fsname" => Meaning::Nothing,
        "sync" | "dirsync" => {
            Meaning::Refused("programs that need it call fsync, or open with O_SYNC: both are honoured")
        }
        "strictatime" | "norelatime" => Meaning::Refused("times of access follow relatime; noatime turns them off"),
        "nosymfollow" | "mand" | "iversion" => Meaning::Refused("leave it out"),
        "allow_root" => Meaning::Refused("use allow_other; permissions are checked by the kernel"),
        "remount" => Meaning::Refused("unmount, and mount again"),
        "bind" | "rbind" | "move" => {
            Meaning::Refused("mount(8) does that to a mounted directory by itself, without -t")
        }
        "context" | "fscontext" | "defcontext" | "rootcontext" => {
            Meaning::Refused("SELinux labels are kept as attributes of files")
        }
        _ => Meaning::Unknown,
    }
}

/// The long flag that the word `name` stands for, if it is one.
fn flag(name: &str, value: Option<&str>, arity: &impl Fn(&str) -> Option<Arity>) -> Outcome<Option<String>> {
    let long = name.replace('_', "-");
    match (arity(&long), value) {
        (None, _) => Ok(None),
        (Some(Arity::Value | Arity::Optional), Some(value)) => Ok(Some(format!("--{long}={value}"))),
        (Some(Arity::Switch | Arity::Optional), None) => Ok(Some(format!("--{long}"))),
        (Some(Arity::Value), None) => Err(Failure::usage(format!("mount option {name} needs a value: {name}=..."))),
        (Some(Arity::Switch), Some(_)) => Err(Failure::usage(format!("mount option {name} takes no value"))),
    }
}

/// The words of one list.
fn unjoin(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ',' => words.push(String::new()),
            // A backslash before anything but a comma or another backslash is part of the word.
            '\\' if chars.as_str().starts_with([',', '\\']) => push(&mut words, chars.next()),
            other => push(&mut words, Some(other)),
        }
    }
    words
}

fn push(words: &mut [String], c: Option<char>) {
    if let Some(word) = words.last_mut() {
        word.extend(c);
    }
}

#[cfg(test)]
mod tests;
