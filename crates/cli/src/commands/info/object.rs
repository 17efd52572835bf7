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
    state: String,
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
        let state = match self.state.as_str() {
            "stored" => "in the store",
            "written" => "being written: in the store when it is closed or synced",
            "replaced" => "another content was stored by somebody else meanwhile",
            "gone" => "removed from the store by somebody else meanwhile",
            "implied" => "no object of its own",
            other => other,
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
