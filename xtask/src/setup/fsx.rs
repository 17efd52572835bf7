//! fsx, with a leak mended: it maps the file for every read and never unmaps it, so that a long run slows down with the
//! square of its length and then has no mappings left (`vm.max_map_count`), on any file system.

use crate::shell;
use anyhow::{Context, Result, ensure};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The version that [`MAPPED_READ`] is in.
pub(super) const VERSION: &str = "0.3.2";

/// How a mapped read ends.
const MAPPED_READ: &str = "\
                .copy_to(buf.as_mut_ptr(), size);
            self.check_eofpage(offset, p.as_ptr(), size);
";

/// What is put after it.
const UNMAP: &str = "            munmap(p, map_size).unwrap();\n";

/// The source, mended; what [`super::programs`] installs it from.
pub(super) fn source() -> Result<PathBuf> {
    let fetched = shell::workspace().join("target/tools-source");
    let source = fetched.join(format!("vendor/fsx-{VERSION}"));
    std::fs::remove_dir_all(&fetched).or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })?;
    fetch(&fetched)?;
    mend(&source.join("src/main.rs"))?;
    // It lies below other workspaces, and is in none of them.
    let mut manifest = std::fs::File::options().append(true).open(source.join("Cargo.toml"))?;
    manifest.write_all(b"\n[workspace]\n")?;
    Ok(source)
}

/// Has cargo lay out the sources that a package which needs fsx would be built from.
fn fetch(fetched: &Path) -> Result<()> {
    std::fs::create_dir_all(fetched.join("src"))?;
    std::fs::write(fetched.join("src/lib.rs"), "")?;
    let manifest = fetched.join("Cargo.toml");
    let needs = format!("[package]\nname = \"needs-fsx\"\n[dependencies]\nfsx = \"={VERSION}\"\n[workspace]\n");
    std::fs::write(&manifest, needs)?;
    let mut vendor = shell::cargo();
    vendor.args(["vendor", "--quiet", "--versioned-dirs", "--manifest-path"]).arg(&manifest);
    shell::run(vendor.arg(fetched.join("vendor")))
}

fn mend(main: &Path) -> Result<()> {
    let text = std::fs::read_to_string(main).with_context(|| main.display().to_string())?;
    ensure!(text.matches(MAPPED_READ).count() == 1, "{}: not the fsx that is mended here", main.display());
    std::fs::write(main, text.replace(MAPPED_READ, &format!("{MAPPED_READ}{UNMAP}")))?;
    Ok(())
}
