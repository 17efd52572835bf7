use super::*;
use std::process::{Child, Command};

const FILE: Ino = Ino(7);

fn this_process() -> u32 {
    std::process::id()
}

fn this_thread() -> u32 {
    let link = std::fs::read_link("/proc/thread-self").unwrap();
    link.file_name().unwrap().to_str().unwrap().parse().unwrap()
}

/// A thread that is not this process's.
fn other() -> Child {
    Command::new("sleep").arg("60").spawn().unwrap()
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn opened() -> Writers {
    let writers = Writers::default();
    writers.opened(FILE, Handle(1), true);
    writers
}

#[test]
fn a_file_is_written_until_its_last_handle_is_released() {
    let writers = opened();
    writers.opened(FILE, Handle(2), true);
    writers.opened(Ino(8), Handle(3), false);
    assert!(writers.has(FILE) && !writers.has(Ino(8)));
    writers.released(Ino(8), Handle(3));
    writers.released(FILE, Handle(1));
    assert!(writers.has(FILE));
    writers.released(FILE, Handle(2));
    assert!(!writers.has(FILE));
}

#[test]
fn only_who_changed_nothing_is_another() {
    let (writers, other) = (opened(), other());
    assert!(!writers.changed_by_others(FILE, other.id()), "nobody changed anything");
    writers.changed(FILE, this_process());
    assert!(writers.changed_by_others(FILE, other.id()));
    assert!(!writers.changed_by_others(FILE, this_process()));
    let gone = std::thread::spawn(this_thread).join().unwrap();
    let of_another_thread = std::thread::scope(|scope| {
        let ask = || {
            let thread = this_thread();
            assert_ne!(thread, this_process());
            writers.changed_by_others(FILE, thread)
        };
        scope.spawn(ask).join().unwrap()
    });
    assert!(!of_another_thread, "it is the same process");
    assert!(!writers.changed_by_others(FILE, gone), "of a thread that is gone nothing is known");
    writers.changed(FILE, other.id());
    assert!(!writers.changed_by_others(FILE, other.id()));
    end(other);
}

#[test]
fn what_nobody_knows_may_be_anyones() {
    let (writers, other) = (opened(), other());
    writers.changed(FILE, this_process());
    writers.changed(FILE, 0);
    assert!(!writers.changed_by_others(FILE, other.id()));
    writers.released(FILE, Handle(1));
    writers.opened(FILE, Handle(2), true);
    writers.changed(FILE, this_process());
    assert!(writers.changed_by_others(FILE, other.id()), "a file that is opened again begins anew");
    assert!(!writers.changed_by_others(FILE, 0));
    end(other);
}

#[test]
fn who_changes_a_file_that_is_not_open_is_not_remembered() {
    let writers = Writers::default();
    writers.changed(FILE, this_process());
    assert!(writers.0.lock().is_empty());
}

#[test]
fn too_many_threads_are_anyone() {
    let mut changed = Changed::default();
    for thread in 1..=100 {
        changed.note(thread, Some(1));
    }
    assert!(matches!(changed, Changed::ByAnyone));
    assert!(!changed.is_news(1000));
}
