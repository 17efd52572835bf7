use super::*;
use object_store::memory::InMemory;

fn owner(host: &str, pid: u32) -> Owner {
    Owner {
        boot_id: "boot".into(),
        machine_id: "machine".into(),
        pid_namespace: 7,
        pid,
        pid_started: 1,
        ..Owner::new(host, "/mnt")
    }
}

#[tokio::test]
async fn the_second_is_refused_until_the_first_released() {
    let store = InMemory::new();
    let first = Ownership::take(&store, owner("a", 1), false).await.unwrap();
    let refused = Ownership::take(&store, owner("b", 2), false).await.unwrap_err();
    assert!(matches!(&refused, Error::Owned(who) if who.contains("host a, process 1 (/mnt)")), "{refused}");
    first.release(&store).await.unwrap();
    let second = Ownership::take(&store, owner("b", 2), false).await.unwrap();
    assert!(second.epoch > first.epoch);
}

#[tokio::test]
async fn take_over_takes_over() {
    let store = InMemory::new();
    Ownership::take(&store, owner("a", 1), false).await.unwrap();
    assert_eq!(Ownership::take(&store, owner("b", 2), true).await.unwrap().epoch, 2);
}

#[tokio::test]
async fn a_process_of_this_host_that_is_gone_does_not_hold_it() {
    let store = InMemory::new();
    let here = |pid, pid_started| Owner { pid_started, ..owner("a", pid) };
    // This process lives, but started at another time than the holder: its pid was used again.
    Ownership::take(&store, here(std::process::id(), u64::MAX), false).await.unwrap();
    let started = stoa_process::started(std::process::id()).unwrap();
    Ownership::take(&store, here(std::process::id(), started), false).await.unwrap();
    // And now it is held by this very process, which lives.
    assert!(matches!(Ownership::take(&store, here(1, 1), false).await, Err(Error::Owned(_))));
    let rebooted = Owner { boot_id: "later".into(), ..owner("a", 1) };
    Ownership::take(&store, rebooted, false).await.unwrap();
}

#[tokio::test]
async fn of_many_at_once_one_wins() {
    let store = std::sync::Arc::new(InMemory::new());
    let takes = (0..16).map(|pid| {
        let store = std::sync::Arc::clone(&store);
        tokio::spawn(async move {
            Ownership::take(store.as_ref(), owner("a-host", pid + 1_000_000_000), false).await.is_ok()
        })
    });
    // All of them are "gone" for each other (no such processes here), so every one gets an epoch: all different.
    let won = futures::future::join_all(takes).await.into_iter().filter(|taken| *taken.as_ref().unwrap()).count();
    assert_eq!(won, 16);
    assert_eq!(list(store.as_ref()).await.unwrap().last(), Some(&16));
}

#[test]
fn who_may_be_on_another_machine_is_not_gone() {
    let gone = owner("a", 1_000_000_000);
    assert!(is_gone(&gone, &gone));
    let alive = |holder: Owner| assert!(!is_gone(&holder, &gone), "{holder:?}");
    alive(Owner { host: "b".into(), ..gone.clone() });
    alive(Owner { machine_id: "other".into(), ..gone.clone() });
    alive(Owner { pid_namespace: 8, ..gone.clone() });
    alive(Owner { machine_id: "other".into(), boot_id: "other".into(), ..gone.clone() });
    alive(Owner::new("a", "/mnt"));
    let rebooted = Owner { boot_id: "later".into(), ..gone.clone() };
    assert!(is_gone(&gone, &rebooted));
    // Without a machine id, another boot may be another machine; the same boot can't be.
    let nameless = |owner: &Owner| Owner { machine_id: String::new(), ..owner.clone() };
    assert!(!is_gone(&nameless(&gone), &nameless(&rebooted)));
    assert!(is_gone(&nameless(&gone), &nameless(&gone)));
}

#[test]
fn owner_files_of_before_are_read_and_leave_doubt() {
    let file = r#"{"host":"a","boot_id":"boot","pid":1000000000,"pid_started":1,"purpose":"/mnt"}"#;
    let holder: Owner = serde_json::from_str(file).unwrap();
    assert_eq!((holder.machine_id.as_str(), holder.pid_namespace), ("", 0));
    assert!(!is_gone(&holder, &owner("a", 2)));
}

#[tokio::test]
async fn who_was_overtaken_gives_way() {
    let store = InMemory::new();
    let first = Ownership::take(&store, owner("a", 1), false).await.unwrap();
    first.confirm(&store).await.unwrap();
    let second = Ownership::take(&store, owner("b", 2), true).await.unwrap();
    assert!(matches!(first.confirm(&store).await, Err(Error::Fenced(why)) if why.contains("host b, process 2")));
    second.confirm(&store).await.unwrap();
}
