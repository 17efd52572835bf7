//! What new objects carry: a content type by their names, and how they are to be stored.

use crate::bucket::Bucket;
use stoa_objects::s3::Headers;

/// The type of what has no better one.
const BYTES: &str = "application/octet-stream";

impl Bucket {
    /// What a new object of this type carries.
    pub(crate) fn headers(&self, content_type: Option<String>) -> Headers {
        Headers { content_type, storage: self.storage.clone(), ..Headers::default() }
    }

    /// What the object of a new file carries.
    pub(crate) fn headers_of_file(&self, key: &str) -> Headers {
        self.headers(Some(content_type(key).to_owned()))
    }
}

/// The type of a file, by the end of its name, in upper or lower case.
fn content_type(key: &str) -> &'static str {
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    mime_guess::from_path(name).first_raw().unwrap_or(BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_go_by_the_end_of_the_name() {
        for (key, expected) in [
            ("photos/cat.jpg", "image/jpeg"),
            ("a/INDEX.HTML", "text/html"),
            ("data.json", "application/json"),
            ("a.jpg/plain", BYTES),
            (".jpg", BYTES),
            ("no type", BYTES),
        ] {
            assert_eq!(content_type(key), expected, "{key}");
        }
    }
}
