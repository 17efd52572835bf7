//! What is told of a file that is an object.

use crate::failure::{Failure, Outcome};
use crate::output::{Table, bytes, plural};
use serde::Deserialize;
use serde_json::Value;

/// What came back.
#[derive(Debug, Deserialize)]
pub(super) struct Object {
    path: String,
    store: String,
    ino: u64,
    kind: String,
    size: u64,
    key: String,
    dirty: bool,
    etag: Option<String>,
    version: Option<String>,
    content_type: Option<String>,
    storage_class: Option<String>,
}

impl Object {
    pub(super) fn read(value: &Value) -> Outcome<Self> {
        Self::deserialize(value).map_err(|error| Failure::because("unreadable report", &error))
    }

    pub(super) fn text(&self) -> String {
        let state = match (self.dirty, &self.etag) {
            (true, _) => "not in the store as it is: when it is closed or synced",
            (false, Some(_)) => "in the store",
            (false, None) => "no object of its own",
        };
        let facts = [
            ("store", Some(self.store.clone())),
            // Keys may hold anything, and this goes to a terminal.
            ("key", Some(format!("{:?}", self.key))),
            ("inode", Some(format!("{}, {}", self.ino, self.kind))),
            ("size", Some(format!("{} ({})", bytes(self.size), plural(self.size, "byte")))),
            ("state", Some(state.to_owned())),
            ("etag", self.etag.clone()),
            ("version", self.version.clone()),
            ("content type", self.content_type.clone()),
            ("storage class", self.storage_class.clone()),
        ];
        let mut table = Table::new(&[]);
        for (name, value) in facts {
            if let Some(value) = value {
                table.row([format!("  {name}"), value]);
            }
        }
        format!("{}\n{table}", self.path)
    }
}
