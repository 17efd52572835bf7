//! Whether every directory hangs from the root.

use super::found::Found;
use super::node::Node;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use stoa_vfs::Ino;

/// Reports loops of directories. A directory that does not hang from the root is below one, has no name, or is in something that is no
/// directory: the last two are reported where names are counted.
pub(super) fn check(nodes: &BTreeMap<Ino, Node>, found: &mut Found) {
    // For each directory the one from which a walk upwards first came to it.
    let mut walks: HashMap<Ino, Ino> = HashMap::new();
    for (start, _) in nodes.iter().filter(|(_, node)| node.is_directory()) {
        let mut at = *start;
        while let Some(parent) = named_in(nodes, at) {
            match walks.entry(at) {
                // By another walk: whatever is above was seen.
                Entry::Occupied(walk) if walk.get() != start => break,
                Entry::Occupied(_) => {
                    report_loop(nodes, at, found);
                    break;
                }
                Entry::Vacant(first) => drop(first.insert(*start)),
            }
            at = parent;
        }
    }
}

/// The directory that holds directory `ino`; none for the root.
fn named_in(nodes: &BTreeMap<Ino, Node>, ino: Ino) -> Option<Ino> {
    let node = nodes.get(&ino).filter(|node| ino != Ino::ROOT && node.is_directory() && node.names > 0)?;
    Some(node.parent)
}

fn report_loop(nodes: &BTreeMap<Ino, Node>, first: Ino, found: &mut Found) {
    const SHOWN_MAX: usize = 10;
    let members = std::iter::successors(Some(first), |at| named_in(nodes, *at).filter(|parent| *parent != first));
    let shown: Vec<String> = members.clone().take(SHOWN_MAX).map(|ino| ino.to_string()).collect();
    let more = members.count().saturating_sub(SHOWN_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let shown = shown.join(" in ");
    found.lasting(format!(
        "directories hold each other, and can't be reached from the root, nor what is in them: {shown}{more}"
    ));
}
