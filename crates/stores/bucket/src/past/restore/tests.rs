use super::*;
use std::time::Duration;

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// The plan for one key of versions with these times, the newest first; 0 bytes are a delete marker.
fn plan(versions: &[(u64, u64)], time: Option<u64>) -> String {
    let versions = versions.iter().map(|(seconds, size)| Version {
        key: "k".to_owned(),
        id: seconds.to_string(),
        latest: false,
        modified: Some(at(*seconds)),
        kind: match size {
            0 => VersionKind::DeleteMarker,
            size => VersionKind::Object { size: *size, etag: Some(format!("e{seconds}")), storage_class: None },
        },
    });
    let mut key: Option<Key> = None;
    for version in versions {
        key.get_or_insert_with(|| Key::new(&version)).see(version, time.map(at));
    }
    let mut text = "nothing".to_owned();
    let each = async |_: &str, restore: Option<Restore>| {
        text = match restore {
            None => "newer".to_owned(),
            Some(Restore { version, how: Restored::Uncovered(markers), .. }) => {
                format!("{version} under {}", markers.join(","))
            }
            Some(Restore { version, how: Restored::Copied(over), .. }) => {
                format!("{version} over {}", over.unwrap_or_else(|| "a marker".to_owned()))
            }
        };
        Ok(())
    };
    let mut each = each;
    futures::executor::block_on(key.unwrap().end(time.map(at), &mut each)).unwrap();
    text
}

#[test]
fn what_is_deleted_comes_back_from_under_its_markers() {
    assert_eq!(plan(&[(9, 0), (8, 0), (5, 1), (4, 1)], None), "5 under 9,8");
    assert_eq!(plan(&[(9, 2), (8, 0), (5, 1)], None), "nothing");
    assert_eq!(plan(&[(9, 0)], None), "nothing");
}

#[test]
fn what_was_there_at_a_time_comes_back() {
    assert_eq!(plan(&[(9, 0), (5, 1), (4, 1)], Some(6)), "5 under 9");
    assert_eq!(plan(&[(9, 2), (5, 1)], Some(6)), "5 over e9");
    assert_eq!(plan(&[(9, 0), (7, 2), (5, 1)], Some(6)), "5 over a marker");
    assert_eq!(plan(&[(5, 1), (4, 1)], Some(6)), "nothing");
}

#[test]
fn what_was_not_there_at_a_time_is_left() {
    assert_eq!(plan(&[(9, 2), (5, 0), (4, 1)], Some(6)), "newer");
    assert_eq!(plan(&[(9, 2)], Some(6)), "newer");
    assert_eq!(plan(&[(9, 0), (5, 0)], Some(6)), "nothing");
}
