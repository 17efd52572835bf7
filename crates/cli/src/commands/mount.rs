//! `stoa mount`, and `mount -t stoa`.

use crate::args::Mount;
use crate::control::Registry;
use crate::daemon::{self, Plan, Readiness, Side};
use crate::failure::Outcome;
use crate::output;

/// Mounts a volume: in this process, or in one that is left in the background.
pub(crate) fn run(args: Mount) -> Outcome<()> {
    let (foreground, fake) = (args.foreground, args.fake);
    // What would stop it late is found before anything is made.
    Registry::own().prepare()?;
    let plan = Plan::new(args)?;
    if let Some(warning) = plan.warning() {
        output::note(format_args!("stoa: warning: {warning}"));
    }
    if fake {
        return Ok(());
    }
    if foreground {
        return daemon::run(&plan, &Readiness::Foreground);
    }
    match daemon::background()? {
        Side::Front(waiting) => {
            waiting.wait()?.print(plan.json);
            Ok(())
        }
        Side::Back(readiness) => daemon::run(&plan, &readiness),
    }
}
