//! Checked reading and writing of little-endian numbers.

use super::Malformed;
use ::bytes::Bytes;
use stoa_vfs::Timestamp;

/// Writes a value.
#[derive(Debug)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// Starts a value with the version of its layout.
    #[must_use]
    pub fn new(version: u8) -> Self {
        let mut bytes = Vec::with_capacity(128);
        bytes.push(version);
        Self(bytes)
    }
    /// Appends a byte.
    pub fn u8(&mut self, value: u8) {
        self.0.push(value);
    }
    /// Appends two bytes.
    pub fn u16(&mut self, value: u16) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }
    /// Appends four bytes.
    pub fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }
    /// Appends eight bytes.
    pub fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }
    /// Appends seconds and nanoseconds.
    pub fn time(&mut self, time: Timestamp) {
        self.0.extend_from_slice(&time.secs.to_le_bytes());
        self.u32(time.nanos);
    }
    /// Appends bytes as they are; the reader must know how many.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
    /// The value.
    #[must_use]
    pub fn finish(self) -> Bytes {
        self.0.into()
    }
}

/// Reads a value; every step checks that the bytes are there.
#[derive(Debug)]
pub struct Reader {
    rest: Bytes,
}

impl Reader {
    /// Starts reading `value`, whose layout must be of `version`.
    ///
    /// # Errors
    /// [`Malformed`] for an empty value or another version.
    pub fn new(value: Bytes, version: u8) -> Result<Self, Malformed> {
        let mut reader = Self { rest: value };
        if reader.u8()? == version { Ok(reader) } else { Err(Malformed("unknown version of a record")) }
    }
    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
    /// The next `len` bytes.
    pub fn raw(&mut self, len: usize) -> Result<Bytes, Malformed> {
        if len > self.rest.len() {
            return Err(Malformed("a record is cut short"));
        }
        Ok(self.rest.split_to(len))
    }
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.raw(N)?.as_ref().try_into().map_err(|_| Malformed("a record is cut short"))
    }
    /// The next byte.
    pub fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(u8::from_le_bytes)
    }
    /// The next two bytes.
    pub fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }
    /// The next four bytes.
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }
    /// The next eight bytes.
    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }
    /// Seconds and nanoseconds.
    pub fn time(&mut self) -> Result<Timestamp, Malformed> {
        let secs = self.array().map(i64::from_le_bytes)?;
        let nanos = self.u32()?;
        if nanos < 1_000_000_000 {
            Ok(Timestamp { secs, nanos })
        } else {
            Err(Malformed("a time has too many nanoseconds"))
        }
    }
    /// Whatever is left.
    #[must_use]
    pub fn rest(self) -> Bytes {
        self.rest
    }
    /// Ends the reading: nothing may be left.
    pub fn end(self) -> Result<(), Malformed> {
        if self.rest.is_empty() { Ok(()) } else { Err(Malformed("a record has bytes too many")) }
    }
}
