//! Who this process is, for the record that an open volume keeps of its owner.

use crate::failure::{Failure, Outcome};
use std::fs;
use std::os::unix::fs::MetadataExt;
use stoa_volume::Owner;

/// This process as the owner of a volume, which it uses for `purpose`.
pub(crate) fn owner(purpose: impl Into<String>) -> Outcome<Owner> {
    let pid = std::process::id();
    let pid_started = stoa_process::started(pid)
        .ok_or_else(|| Failure::new(format!("/proc/{pid}/stat can't be read: is /proc mounted?")))?;
    Ok(Owner {
        host: hostname()?,
        boot_id: kernel_says("random/boot_id")?,
        machine_id: machine_id(),
        pid_namespace: pid_namespace(),
        pid,
        pid_started,
        purpose: purpose.into(),
    })
}

/// The name of this machine.
pub(crate) fn hostname() -> Outcome<String> {
    kernel_says("hostname")
}

/// What tells this machine from another of its name, through its reboots; empty where it was never set up.
fn machine_id() -> String {
    let id = fs::read_to_string("/etc/machine-id").unwrap_or_default();
    // systemd writes "uninitialized" before the first boot is through.
    let id = id.trim();
    if id == "uninitialized" { String::new() } else { id.to_owned() }
}

/// What tells the process ids of a container from those of another; 0 if the kernel does not say.
fn pid_namespace() -> u64 {
    fs::metadata("/proc/self/ns/pid").map_or(0, |namespace| namespace.ino())
}

fn kernel_says(what: &str) -> Outcome<String> {
    let path = format!("/proc/sys/kernel/{what}");
    let text = fs::read_to_string(&path).map_err(|error| Failure::because(&path, &error))?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests;
