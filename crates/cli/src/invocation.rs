//! From argv to [`Cli`], whichever name the program was called by.
//!
//! mount(8) runs `mount.stoa STORE DIR [-sfnv] [-o ...]` and `umount.stoa DIR [-flnrv]`; both are made into the command
//! they stand for, so that there is one table of flags and one way through the program.

use crate::args::{Cli, Command};
use crate::failure::{Failure, MOUNT_FAILED, Outcome};
use crate::mount_options::{self, Arity, MountWords};
use clap::{ArgAction, Args, CommandFactory, FromArgMatches, Parser};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// A command line, understood.
#[derive(Debug)]
pub(crate) struct Invoked {
    /// What to do.
    pub(crate) cli: Cli,
    /// The exit code of any failure, where the caller expects a certain one.
    pub(crate) failure_code: Option<u8>,
}

/// A command line that was not understood.
#[derive(Debug)]
pub(crate) enum Refused {
    /// By the flag table; help and version come this way too.
    Clap(clap::Error),
    /// By us.
    Failure(Failure),
}

impl From<clap::Error> for Refused {
    fn from(error: clap::Error) -> Self {
        Self::Clap(error)
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// What mount(8) passes to `mount.stoa`.
#[derive(Debug, Parser)]
#[command(name = "mount.stoa", version, about = "Mount a Stoa volume; run by mount(8) and /etc/fstab")]
struct MountHelper {
    store: OsString,
    dir: OsString,
    /// Pass over unknown options
    #[arg(short)]
    sloppy: bool,
    /// Understand everything, but do not mount
    #[arg(short)]
    fake: bool,
    #[command(flatten)]
    common: HelperCommon,
    /// Refuse every change
    #[arg(short)]
    read_only: bool,
    #[arg(short = 'w', hide = true)]
    read_write: bool,
    /// Mount options, as of `stoa mount -o`
    #[arg(short = 'o', value_name = "OPTION,...", action = ArgAction::Append)]
    options: Vec<String>,
}

/// What umount(8) passes to `umount.stoa`.
#[derive(Debug, Parser)]
#[command(name = "umount.stoa", version, about = "Unmount a Stoa volume; run by umount(8)")]
struct UmountHelper {
    dir: OsString,
    /// Unmount even if the mount does not answer
    #[arg(short)]
    force: bool,
    /// Detach now
    #[arg(short)]
    lazy: bool,
    #[command(flatten)]
    common: HelperCommon,
    /// (For mount(8); a mount is never left read-only instead)
    #[arg(short)]
    read_only: bool,
}

#[derive(Debug, Args)]
struct HelperCommon {
    /// (For mount(8); there is no mtab)
    #[arg(short)]
    no_mtab: bool,
    /// Say more
    #[arg(short, action = ArgAction::Count)]
    verbose: u8,
    #[arg(short = 'N', value_name = "NAMESPACE", hide = true)]
    namespace: Option<OsString>,
    #[arg(short = 't', value_name = "TYPE", hide = true)]
    fs_type: Option<OsString>,
}

/// Understands `argv`, the program's name first.
pub(crate) fn read(argv: Vec<OsString>) -> Result<Invoked, Refused> {
    let name = argv.first().and_then(|name| Path::new(name).file_name()).and_then(OsStr::to_str).unwrap_or("stoa");
    match name {
        "mount.stoa" | "mount.fuse.stoa" => mount_helper(argv),
        "umount.stoa" | "umount.fuse.stoa" => umount_helper(argv),
        _ => Ok(Invoked { cli: stoa(argv, false)?, failure_code: None }),
    }
}

fn mount_helper(argv: Vec<OsString>) -> Result<Invoked, Refused> {
    let helper = MountHelper::try_parse_from(argv)?;
    refuse_namespace(&helper.common)?;
    let mut argv: Vec<OsString> = vec!["stoa".into(), "mount".into()];
    argv.extend(helper.options.into_iter().map(|option| format!("--options={option}").into()));
    argv.extend(helper.read_only.then(|| "--options=ro".into()));
    argv.extend(helper.read_write.then(|| "--options=rw".into()));
    argv.extend(std::iter::repeat_n("-v".into(), helper.common.verbose.into()));
    argv.extend(["--".into(), helper.store, helper.dir]);
    let mut cli = stoa(argv, helper.sloppy)?;
    if let Command::Mount(mount) = &mut cli.command {
        mount.fake = helper.fake;
    }
    Ok(Invoked { cli, failure_code: Some(MOUNT_FAILED) })
}

fn umount_helper(argv: Vec<OsString>) -> Result<Invoked, Refused> {
    let helper = UmountHelper::try_parse_from(argv)?;
    refuse_namespace(&helper.common)?;
    let mut argv: Vec<OsString> = vec!["stoa".into(), "umount".into()];
    argv.extend(helper.force.then(|| "--force".into()));
    argv.extend(helper.lazy.then(|| "--lazy".into()));
    argv.extend(std::iter::repeat_n("-v".into(), helper.common.verbose.into()));
    argv.extend(["--".into(), helper.dir]);
    Ok(Invoked { cli: stoa(argv, false)?, failure_code: Some(MOUNT_FAILED) })
}

/// Mounting in the wrong namespace would look like success.
fn refuse_namespace(common: &HelperCommon) -> Outcome<()> {
    match common.namespace {
        Some(_) => Err(Failure::usage("-N: another mount namespace is not supported").advise("use nsenter(1)")),
        None => Ok(()),
    }
}

/// Understands the command line of `stoa` itself. The words of `-o` that stand for long flags are put before the other
/// flags, which therefore win, and all of it is read again.
fn stoa(mut argv: Vec<OsString>, sloppy: bool) -> Result<Cli, Refused> {
    let (mut cli, at) = parse(&argv)?;
    let Command::Mount(mount) = &cli.command else {
        return Ok(cli);
    };
    let words = mount_options::split(&mount.options, arity, sloppy)?;
    if !words.flags.is_empty() {
        let flags = words.flags.iter().map(OsString::from);
        argv.splice(at..at, flags);
        cli = parse(&argv)?.0;
    }
    if let Command::Mount(mount) = &mut cli.command {
        mount.words =
            MountWords { read_only: if mount.read_only { Some(true) } else { words.mount.read_only }, ..words.mount };
    }
    Ok(cli)
}

/// The command line, and the place right after the name of the command.
fn parse(argv: &[OsString]) -> Result<(Cli, usize), Refused> {
    let matches = Cli::command().try_get_matches_from(argv)?;
    // Only global flags, none of which takes a value, can stand before the name of the command.
    let at = argv.iter().skip(1).position(|arg| Some(arg.as_os_str()) == matches.subcommand_name().map(OsStr::new));
    Ok((Cli::from_arg_matches(&matches)?, at.map_or(argv.len(), |at| at + 2)))
}

/// Whether `stoa mount` has a long flag `name` that can be a word of `-o`, and whether it has a value.
fn arity(name: &str) -> Option<Arity> {
    /// What makes no sense in /etc/fstab, or is `-o` itself.
    const NO_WORDS: [&str; 5] = ["options", "help", "foreground", "json", "verbose"];
    let mut stoa = Cli::command();
    stoa.build();
    let mount = stoa.find_subcommand("mount")?;
    let flag = mount.get_arguments().find(|arg| arg.get_long() == Some(name) && !NO_WORDS.contains(&name))?;
    Some(match flag.get_num_args() {
        _ if !flag.get_action().takes_values() => Arity::Switch,
        Some(range) if range.min_values() == 0 => Arity::Optional,
        _ => Arity::Value,
    })
}

#[cfg(test)]
mod tests;
