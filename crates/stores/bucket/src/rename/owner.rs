//! Who carries a rename out: a process, which may be gone.

use serde::{Deserialize, Serialize};

/// A process, told from every other there ever was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Owner {
    /// Where its number means something: the running kernel, and the namespace of processes.
    machine: String,
    pid: u32,
    /// When it was started, in ticks of that kernel.
    started: u64,
}

impl Owner {
    /// This process.
    pub(super) fn this() -> Self {
        let pid = std::process::id();
        Self { machine: machine(), pid, started: stoa_process::started(pid).unwrap_or(0) }
    }

    /// Whether it is known to be gone. Of another machine's nothing is known.
    pub(super) fn is_gone(&self) -> bool {
        !self.machine.is_empty() && self.machine == machine() && stoa_process::is_gone(self.pid, self.started)
    }
}

/// Empty if it is not known.
fn machine() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    match boot.trim() {
        "" => String::new(),
        boot => format!("{boot} {}", namespace.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_gone_is_known_here_and_not_elsewhere() {
        let this = Owner::this();
        assert!(!this.is_gone());
        assert!(Owner { started: this.started + 1, ..this.clone() }.is_gone());
        assert!(!Owner { started: this.started + 1, machine: "another".into(), ..this }.is_gone());
    }
}
