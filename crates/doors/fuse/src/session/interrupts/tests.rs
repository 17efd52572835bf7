use super::{EARLY_MAX, Interrupts};
use tokio::sync::oneshot::error::TryRecvError;

#[test]
fn an_interrupt_reaches_the_request_it_is_for() {
    let interrupts = Interrupts::default();
    let (mut two, mut four) = (interrupts.wait(2), interrupts.wait(4));
    interrupts.interrupt(4);
    assert_eq!((two.try_recv(), four.try_recv()), (Err(TryRecvError::Empty), Ok(())));
    interrupts.done(2);
    interrupts.interrupt(2);
    assert_eq!(two.try_recv(), Err(TryRecvError::Closed));
}

#[test]
fn an_interrupt_may_come_before_its_request_waits() {
    let interrupts = Interrupts::default();
    interrupts.interrupt(6);
    assert_eq!(interrupts.wait(6).try_recv(), Ok(()));
    assert_eq!(interrupts.wait(6).try_recv(), Err(TryRecvError::Empty), "it counts once");
}

#[test]
fn interrupts_of_nothing_are_forgotten() {
    let interrupts = Interrupts::default();
    (0..1000).for_each(|unique| interrupts.interrupt(unique));
    assert_eq!(interrupts.0.lock().early.len(), EARLY_MAX);
    assert_eq!(interrupts.wait(999).try_recv(), Ok(()));
    assert_eq!(interrupts.wait(0).try_recv(), Err(TryRecvError::Empty));
}
