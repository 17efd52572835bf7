//! Raw requests: what the store gives to Stoa's own S3 client, without a file system.

mod worker;

pub(crate) use worker::work;

use crate::data::Slice;
use crate::server::{Server, program};
use crate::store::Store;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout};

/// As large as Stoa's segments, and as many at a time as it uploads.
pub(crate) const OBJECT_BYTES: usize = 16 << 20;
pub(crate) const PARALLEL: usize = 8;
/// Small requests spend their time on the way, so that more can be under way.
pub(crate) const PARALLEL_SMALL: usize = 64;

/// An object with a part of the data.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Object {
    pub(crate) key: String,
    pub(crate) content: Slice,
}

/// What the worker is told, one line each.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Command {
    /// Make the data, of which so many bytes are needed; text, if it shall compress.
    Load { len: usize, text: bool },
    /// Put these.
    Put { objects: Vec<Object>, parallel: usize },
    /// Get these.
    Get { objects: Vec<Object>, parallel: usize },
    /// Get these, and fail if one is not what was put.
    Verify { objects: Vec<Object> },
    /// Get pages of objects, one after the other: each is a slice of the data that starts so far into the object.
    GetPages { pages: Vec<(Object, u64)> },
    /// How many are there with this prefix?
    List { prefix: String },
}

/// What the worker says, one line each.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// Why it could not be done.
    pub(crate) failure: Option<String>,
    /// Of a list.
    pub(crate) count: usize,
    /// How long each page took.
    pub(crate) seconds: Vec<f64>,
}

/// A process that sends requests when it is told to.
#[derive(Debug)]
pub(crate) struct Raw {
    // Closed first: the worker ends at the end of its input.
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    server: Server,
}

impl Raw {
    pub(crate) fn start(store: &Store, scratch: &Path) -> Result<Self> {
        let mut command = program(std::env::current_exe()?);
        command.arg("raw-requests").arg(store.endpoint()).envs(store.credentials());
        let (server, to, from) = Server::start_piped(&mut command, &scratch.join("client.log"))?;
        Ok(Self { to, from: BufReader::new(from), server })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// Returns when `command` is done.
    pub(crate) fn run(&mut self, command: &Command) -> Result<Answer> {
        let mut line = serde_json::to_string(command)?;
        line.push('\n');
        self.to.write_all(line.as_bytes())?;
        line.clear();
        self.from.read_line(&mut line)?;
        let answer: Answer = serde_json::from_str(&line).with_context(|| self.server.last_words())?;
        match answer.failure {
            Some(failure) => bail!("raw requests: {failure}"),
            None => Ok(answer),
        }
    }
}
