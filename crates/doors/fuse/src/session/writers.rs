//! Files that are open for writing, and which processes changed them.

use parking_lot::Mutex;
use std::collections::HashMap;
use stoa_vfs::{Handle, Ino};

#[cfg(test)]
mod tests;

/// Of how many threads it is remembered that they changed a file.
const THREADS_MAX: usize = 64;

/// The files that may be written: only of these can the kernel hold written pages.
#[derive(Debug, Default)]
pub(crate) struct Writers(Mutex<HashMap<Ino, Written>>);

#[derive(Debug, Default)]
struct Written {
    handles: Vec<Handle>,
    changed: Changed,
}

/// By whom a file was changed since it is open for writing.
#[derive(Debug)]
enum Changed {
    By(Vec<Changer>),
    /// By somebody who is not known, or by too many: the kernel does not say who writes to a mapping.
    ByAnyone,
}

/// A thread that changed a file, and its process: requests name threads.
#[derive(Debug, Clone, Copy)]
struct Changer {
    thread: u32,
    process: u32,
}

impl Default for Changed {
    fn default() -> Self {
        Self::By(Vec::new())
    }
}

impl Writers {
    /// Notes an open file.
    pub(crate) fn opened(&self, ino: Ino, handle: Handle, writable: bool) {
        if writable {
            self.0.lock().entry(ino).or_default().handles.push(handle);
        }
    }

    /// Notes that it was closed, and no mapping of it is left.
    pub(crate) fn released(&self, ino: Ino, handle: Handle) {
        let mut files = self.0.lock();
        if let Some(file) = files.get_mut(&ino) {
            file.handles.retain(|open| *open != handle);
            if file.handles.is_empty() {
                files.remove(&ino);
            }
        }
    }

    /// Whether anyone may have written to the file without its pages having come here.
    pub(crate) fn has(&self, ino: Ino) -> bool {
        self.0.lock().contains_key(&ino)
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<Ino> {
        self.0.lock().keys().copied().collect()
    }

    /// Notes that a thread changes the file; 0 for one that is not known.
    pub(crate) fn changed(&self, ino: Ino, thread: u32) {
        let news = self.0.lock().get(&ino).is_some_and(|file| file.changed.is_news(thread));
        if news {
            let process = stoa_process::process_of(thread);
            if let Some(file) = self.0.lock().get_mut(&ino) {
                file.changed.note(thread, process);
            }
        }
    }

    /// Whether the file was changed, and not by the process of this thread.
    pub(crate) fn changed_by_others(&self, ino: Ino, thread: u32) -> bool {
        let changers = match self.0.lock().get(&ino).map(|file| &file.changed) {
            Some(Changed::By(changers)) => changers.clone(),
            Some(Changed::ByAnyone) | None => return false,
        };
        if changers.is_empty() || changers.iter().any(|changer| changer.thread == thread) {
            return false;
        }
        stoa_process::process_of(thread)
            .is_some_and(|process| changers.iter().all(|changer| changer.process != process))
    }
}

impl Changed {
    fn is_news(&self, thread: u32) -> bool {
        match self {
            Self::By(changers) => changers.iter().all(|changer| changer.thread != thread),
            Self::ByAnyone => false,
        }
    }

    fn note(&mut self, thread: u32, process: Option<u32>) {
        match (self, process) {
            (Self::By(changers), Some(process)) if changers.len() < THREADS_MAX => {
                changers.push(Changer { thread, process });
            }
            (changed, _) => *changed = Self::ByAnyone,
        }
    }
}
