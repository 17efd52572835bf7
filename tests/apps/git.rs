//! git: clone a repository onto the mount, check it, commit to it, check it again from cold.

use anyhow::{Result, ensure};
use std::path::Path;
use stoa_tests::command::shell;
use stoa_tests::{Place, Setup, StoreKind, in_place, scale, tree};

/// Only what the script says counts, not the machine's configuration.
const IDENTITY: &str = "
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@example.org
";

#[test]
fn git_clone_and_fsck() -> Result<()> {
    in_place(Setup::new("git").store(StoreKind::s3()).limit(scale::minutes(5, 30)), |place| {
        let origin = place.scratch().join("origin");
        let commits = make_repository(&origin)?;
        git(place, &origin, "git clone --quiet --no-local \"file://$ORIGIN\" clone")?;
        git(place, &origin, "cd clone; git fsck --full --strict; test -z \"$(git status --porcelain)\"")?;
        let found = git(place, &origin, "git -C clone rev-list --count HEAD")?;
        ensure!(found.trim() == commits.to_string(), "{found} commits, not {commits}");
        git(
            place,
            &origin,
            "cd clone; echo more >> tree1/d0/e0/file-1.txt; git commit --quiet -am more; git gc --quiet",
        )?;
        place.remount()?;
        git(place, &origin, "cd clone; git fsck --full --strict; test -z \"$(git status --porcelain)\"")?;
        git(place, &origin, "rm -rf copy; git clone --quiet clone copy; diff -r --exclude .git clone copy")?;
        Ok(())
    })
}

/// A repository of a few hundred files (thousands in the long run) in several commits; returns how many.
fn make_repository(origin: &Path) -> Result<u64> {
    let commits = 5;
    std::fs::create_dir(origin)?;
    let limit = scale::minutes(3, 20);
    shell(&format!("{IDENTITY} git init --quiet --initial-branch=main ."), origin, limit)?;
    for commit in 1..=commits {
        tree::plant(&origin.join(format!("tree{commit}")), scale::pick(100, 2000) * commit, commit)?;
        shell(&format!("{IDENTITY} git add --all; git commit --quiet -m 'commit {commit}'"), origin, limit)?;
    }
    Ok(commits)
}

fn git(place: &Place, origin: &Path, script: &str) -> Result<String> {
    shell(&format!("{IDENTITY} ORIGIN={}\n{script}", origin.display()), place.dir(), scale::minutes(3, 20))
}
