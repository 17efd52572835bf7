//! `stoa info`.

mod object;

use super::target;
use crate::args::Info;
use crate::control::{Connection, Request, Wait};
use crate::failure::{Failure, Outcome};
use crate::output::{self, Table, bytes, count, plural};
use object::Object;
use serde::Deserialize;
use serde_json::Value;
use std::os::unix::fs::MetadataExt;

/// Shows where the bytes of a file are.
pub(crate) fn run(args: &Info) -> Outcome<()> {
    let shown = args.path.display();
    let (record, socket) = target::holding(&args.path)?;
    let found = args.path.symlink_metadata().map_err(|error| Failure::because(&shown, &error))?;
    let connection = Connection::open(&record, &socket, &Request::Info { ino: found.ino() }, Wait::WhileAlive)?;
    let mut value = connection.result(|_, _, _| {})?;
    if let Some(fields) = value.as_object_mut() {
        fields.insert("path".into(), shown.to_string().into());
        fields.insert("mountpoint".into(), record.mountpoint.into());
        fields.insert("store".into(), record.store.into());
    }
    if args.report.json {
        output::json(&value);
    } else if value.get("key").is_some() {
        output::line(Object::read(&value)?.text());
    } else {
        output::line(File::read(&value)?.text());
    }
    Ok(())
}

/// What came back of a file in a volume.
#[derive(Debug, Deserialize)]
struct File {
    path: String,
    store: String,
    ino: u64,
    kind: String,
    size: u64,
    links: u64,
    dirty_bytes: u64,
    extents: Vec<Extent>,
    #[serde(default)]
    extents_left_out: u64,
}

#[derive(Debug, Deserialize)]
struct Extent {
    offset: u64,
    len: u64,
    kind: String,
    segment: Option<String>,
    frames: u64,
    stored_bytes: u64,
}

impl File {
    fn read(value: &Value) -> Outcome<Self> {
        Self::deserialize(value).map_err(|error| Failure::because("unreadable report", &error))
    }

    fn text(&self) -> String {
        let mut facts = Table::new(&[]);
        facts.row(["  store", &self.store]);
        facts.row(["  inode", &format!("{}, {}, {}", self.ino, self.kind, plural(self.links, "name"))]);
        facts.row(["  size", &format!("{} ({})", bytes(self.size), plural(self.size, "byte"))]);
        facts.row(["  dirty", &format!("{} not in the store yet", bytes(self.dirty_bytes))]);
        facts.row([
            "  extents",
            &count(u64::try_from(self.extents.len()).unwrap_or(u64::MAX).saturating_add(self.extents_left_out)),
        ]);
        let mut text = format!("{}\n{facts}", self.path);
        if !self.extents.is_empty() {
            text.push_str(&format!("\n\n{}", self.table()));
        }
        if self.extents_left_out > 0 {
            text.push_str(&format!("\n... and {} more", plural(self.extents_left_out, "extent")));
        }
        text
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&[0, 1, 3, 4]);
        table.row(["offset", "length", "kind", "frames", "stored", "segment"]);
        for extent in &self.extents {
            table.row([
                count(extent.offset),
                count(extent.len),
                extent.kind.clone(),
                count(extent.frames),
                bytes(extent.stored_bytes),
                extent.segment.clone().unwrap_or_default(),
            ]);
        }
        table
    }
}

#[cfg(test)]
mod tests;
