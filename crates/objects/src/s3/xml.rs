//! XML, as far as S3 speaks it.

use super::failure::Failure;
use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};

/// S3's answers are four elements deep.
const DEPTH_MAX: usize = 16;

/// An element, with what is in it: other elements, or text.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Element {
    name: String,
    text: String,
    children: Vec<Element>,
}

impl Element {
    /// Reads a document. Spaces before it are what servers send to keep a connection open while they work.
    pub(super) fn parse(document: &[u8]) -> Result<Self, Failure> {
        let text = std::str::from_utf8(document).map_err(|_| bad("it is not UTF-8"))?;
        let mut reader = Reader::from_str(text.trim_ascii_start());
        let mut open: Vec<Self> = Vec::new();
        loop {
            let event = reader.read_event().map_err(|error| bad(&error.to_string()))?;
            match event {
                Event::Start(start) => {
                    if open.len() == DEPTH_MAX {
                        return Err(bad("it is too deep"));
                    }
                    open.push(Self::named(start.local_name().as_ref()));
                }
                Event::Empty(empty) => {
                    let element = Self::named(empty.local_name().as_ref());
                    match open.last_mut() {
                        Some(parent) => parent.children.push(element),
                        None => return Ok(element),
                    }
                }
                Event::End(_) => {
                    let element = open.pop().ok_or_else(|| bad("an element ends that did not begin"))?;
                    match open.last_mut() {
                        Some(parent) => parent.children.push(element),
                        None => return Ok(element),
                    }
                }
                Event::Text(text) => add(&mut open, &text.decode().map_err(|error| bad(&error.to_string()))?),
                Event::CData(text) => add(&mut open, &text.decode().map_err(|error| bad(&error.to_string()))?),
                Event::GeneralRef(reference) => add(&mut open, resolve(&reference)?.encode_utf8(&mut [0; 4])),
                Event::Eof => return Err(bad("it ends too early")),
                Event::Decl(_) | Event::PI(_) | Event::Comment(_) | Event::DocType(_) => {}
            }
        }
    }

    fn named(name: &[u8]) -> Self {
        Self { name: String::from_utf8_lossy(name).into_owned(), ..Self::default() }
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The elements in it, in their order.
    pub(super) fn children(&self) -> &[Self] {
        &self.children
    }

    /// Those of one name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.is(name))
    }

    pub(super) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.is(name))
    }

    /// The text of an element in it.
    pub(super) fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name).map(Self::text)
    }

    /// The text of an element that must be there.
    pub(super) fn need(&self, name: &str) -> Result<&str, Failure> {
        self.text_of(name).ok_or_else(|| Failure::corrupt(format!("{} has no {name}", self.name)))
    }

    /// As [`Element::need`], for what is no text.
    pub(super) fn parsed<T: std::str::FromStr>(&self, name: &str) -> Result<T, Failure> {
        let text = self.need(name)?;
        text.trim().parse().map_err(|_| Failure::corrupt(format!("{} has a {name} of '{text}'", self.name)))
    }
}

/// Text goes to the innermost element. Between elements it means nothing, and is not looked at.
fn add(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

fn resolve(reference: &BytesRef<'_>) -> Result<char, Failure> {
    let unknown = || bad("it has an unknown reference");
    if let Some(char) = reference.resolve_char_ref().map_err(|_| unknown())? {
        return Ok(char);
    }
    Ok(match reference.as_ref() {
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"quot" => '"',
        b"apos" => '\'',
        _ => return Err(unknown()),
    })
}

fn bad(reason: &str) -> Failure {
    Failure::corrupt(format!("the answer is no XML that makes sense: {reason}"))
}

/// Whether `text` can stand in a request's XML and arrive as it is: XML has no control characters, and readers may
/// change those that it has.
pub(super) fn can_carry(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'))
}

/// `<name>text</name>`, appended.
pub(super) fn write(document: &mut String, name: &str, text: &str) {
    let escaped = quick_xml::escape::escape(text);
    for piece in ["<", name, ">", &escaped, "</", name, ">"] {
        document.push_str(piece);
    }
}

#[cfg(test)]
mod tests;
