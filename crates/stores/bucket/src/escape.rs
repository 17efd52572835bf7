//! Names for the components of keys, and back.
//!
//! A *component* is what stands between two slashes of a key. Nearly every one is a file name and is left as it is. What
//! can't be a name is written with escapes, each of which begins with `%@`:
//!
//! | escape | where | means |
//! |---|---|---|
//! | `%@-` | at the start | nothing: so that an empty component (`%@-`), `.` (`%@-.`) and `..` (`%@-..`) have names |
//! | `%@0` | anywhere | the byte NUL |
//! | `%@@` | anywhere | the two characters `%@` |
//! | `%@file` | at the end | the object, where there is a directory of the same name |
//! | `%@+` | at the end | the component is longer than a name: it goes on in the names below |
//!
//! Every component has exactly one spelling, and no two have the same.

use bytes::Bytes;
use stoa_vfs::{NAME_MAX, Name};

/// Begins every escape.
const MARK: &str = "%@";
const NOTHING: &str = "%@-";
const NUL: &str = "%@0";
const LITERAL: &str = "%@@";
const BESIDE: &str = "%@file";
const CONTINUED: &str = "%@+";

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A component, or the end of one: a directory if there is one, or else an object.
    Plain,
    /// The object beside a directory of the same component.
    Beside,
    /// The beginning of a component that is too long for one name.
    Continued,
}

/// A name, and what it says of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// The name.
    pub(crate) name: Name,
    /// What it stands for.
    pub(crate) role: Role,
    /// Where in the component it ends.
    pub(crate) end: usize,
}

/// The names of a component, one below the other: nearly always one. `beside`: of the object where there is a directory too.
pub(crate) fn parts(component: &str, beside: bool) -> impl Iterator<Item = Part> + '_ {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = next?;
        let part = part(component.get(start..)?, start, beside)?;
        next = (part.role == Role::Continued).then_some(part.end);
        Some(part)
    })
}

/// The name of a component that begins at its byte `start`, if one does.
pub(crate) fn part_at(component: &str, beside: bool, start: usize) -> Option<Part> {
    if start == 0 {
        return parts(component, beside).next();
    }
    let mut before = parts(component, beside);
    before.find(|part| part.end >= start).filter(|part| part.end == start && part.role == Role::Continued)?;
    before.next()
}

/// Where the last name of a component begins; of a beginning that only continued names say, the last of these.
pub(crate) fn last_start(component: &str) -> usize {
    let mut start = 0;
    for part in parts(component, false) {
        if part.role == Role::Continued && part.end < component.len() {
            start = part.end;
        }
    }
    start
}

/// What `name` says, if it says anything. The name may still be none that [`parts`] gives: that is for the caller to compare.
pub(crate) fn decode(name: &Name) -> Option<(String, Role)> {
    let mut rest = std::str::from_utf8(name.as_bytes()).ok()?;
    if !rest.contains(MARK) {
        return Some((rest.to_owned(), Role::Plain));
    }
    rest = rest.strip_prefix(NOTHING).unwrap_or(rest);
    let mut text = String::with_capacity(rest.len());
    while let Some((before, _)) = rest.split_once(MARK) {
        text.push_str(before);
        rest = rest.get(before.len()..)?;
        match rest {
            BESIDE => return Some((text, Role::Beside)),
            CONTINUED => return Some((text, Role::Continued)),
            _ => {}
        }
        let (escape, after) = rest.split_at_checked(LITERAL.len())?;
        text.push_str(match escape {
            NUL => "\0",
            LITERAL => MARK,
            _ => return None,
        });
        rest = after;
    }
    text.push_str(rest);
    Some((text, Role::Plain))
}

/// The name of `rest`, which begins at `start` of its component, or of as much of it as fits.
fn part(rest: &str, start: usize, beside: bool) -> Option<Part> {
    let (role, suffix) = if beside { (Role::Beside, BESIDE) } else { (Role::Plain, "") };
    if rest.len() + suffix.len() <= NAME_MAX
        && let Some(name) = name(&(escaped(rest) + suffix))
    {
        return Some(Part { name, role, end: start + rest.len() });
    }
    let (cut, _) = rest.split_at_checked(cut(rest))?;
    let name = name(&(escaped(cut) + CONTINUED))?;
    Some(Part { name, role: Role::Continued, end: start + cut.len() })
}

/// `text` as a name, if it is not too long.
fn name(text: &str) -> Option<Name> {
    match text {
        "" | "." | ".." => Name::new(format!("{NOTHING}{text}")).ok(),
        _ => Name::new(Bytes::copy_from_slice(text.as_bytes())).ok(),
    }
}

fn escaped(text: &str) -> String {
    // In this order: what the second puts in is no mark to the first.
    text.replace(MARK, LITERAL).replace('\0', NUL)
}

/// How many bytes of `text` fit into a name that is continued, in whole characters and escapes.
fn cut(text: &str) -> usize {
    let room = NAME_MAX - CONTINUED.len();
    let (mut end, mut taken) = (0, 0);
    while let Some(rest) = text.get(end..).filter(|rest| !rest.is_empty()) {
        let (len, cost) = match rest.chars().next() {
            _ if rest.starts_with(MARK) => (MARK.len(), LITERAL.len()),
            Some('\0') => (1, NUL.len()),
            Some(c) => (c.len_utf8(), c.len_utf8()),
            None => break,
        };
        if taken + cost > room {
            break;
        }
        (end, taken) = (end + len, taken + cost);
    }
    end
}

#[cfg(test)]
mod tests;
