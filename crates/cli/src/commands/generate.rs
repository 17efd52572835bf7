//! `stoa completions` and `stoa man`: made from the flag table, so that they can't differ from it.

use crate::args::{Cli, Completions, Man};
use crate::failure::{Failure, Outcome};
use crate::output;
use clap::CommandFactory;
use std::fs;
use std::io;
use std::path::Path;

/// Prints a completion script.
pub(crate) fn completions(args: &Completions) {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "stoa", &mut script);
    output::line(String::from_utf8_lossy(&script).trim_end());
}

/// Prints the page of `stoa`, or writes every page into a directory.
pub(crate) fn man(args: &Man) -> Outcome<()> {
    let fail = |error: io::Error| Failure::because("can't write the manual", &error);
    let Some(dir) = &args.dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(fail)?;
        output::line(String::from_utf8_lossy(&page).trim_end());
        return Ok(());
    };
    let written = fs::create_dir_all(dir).and_then(|()| pages(dir));
    written.map_err(|error| Failure::because(format_args!("can't write the manual into {}", dir.display()), &error))
}

fn pages(dir: &Path) -> io::Result<()> {
    clap_mangen::generate_to(Cli::command(), dir)?;
    // mount(8) looks for the page of its helper under this name.
    fs::write(dir.join("mount.stoa.8"), ".so man1/stoa-mount.1\n")?;
    fs::write(dir.join("umount.stoa.8"), ".so man1/stoa-umount.1\n")
}
