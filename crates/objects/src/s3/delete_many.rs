//! Many objects deleted by few requests.

use super::attempts::{Answer, Attempts};
use super::call::Call;
use super::failure::Failure;
use super::xml::{self, Element};
use super::{Inner, S3Bucket};
use crate::classify::Class;
use crate::{Error, Result, Verb};
use hyper::Method;
use std::collections::HashMap;

/// As many keys as S3 takes in one request.
const KEYS_MAX: usize = 1000;

impl S3Bucket {
    /// Deletes objects, 1,000 by one request, and gives what became of each, in the order of the keys. One that is not
    /// there counts as deleted. Keys with control characters, which the request's XML can't carry, go one by one.
    ///
    /// Only what the server has confirmed is deleted. Keys that failed in a way that may pass, and such that the answer leaves
    /// out, are asked for again.
    ///
    /// # Errors
    /// When a whole request fails, what became of its keys is not known.
    pub async fn delete_many(&self, keys: &[String]) -> Result<Vec<Result<()>>> {
        let mut results = vec![Ok(()); keys.len()];
        let mut listed: Vec<usize> = Vec::new();
        for (at, key) in keys.iter().enumerate() {
            match key.is_empty() || !xml::can_carry(key) {
                true => set(&mut results, at, self.delete(key, None, None).await),
                false => listed.push(at),
            }
        }
        for chunk in listed.chunks(KEYS_MAX) {
            self.inner.delete_listed(keys, chunk, &mut results).await?;
        }
        Ok(results)
    }
}

impl Inner {
    /// Deletes the keys at `places` by one request, and those of them that fail for the moment by further ones.
    async fn delete_listed(&self, keys: &[String], places: &[usize], results: &mut [Result<()>]) -> Result<()> {
        let mut left: HashMap<&str, Vec<usize>> = HashMap::new();
        for at in places {
            if let Some(key) = keys.get(*at) {
                left.entry(key).or_default().push(*at);
            }
        }
        let mut attempts = Attempts::new(self, "delete many", format!("delete {} keys", left.len()));
        while !left.is_empty() {
            let call = request(left.keys().copied()).await?;
            let answer = match self.answer(&call).await.and_then(|answer: Answer| answer.xml("DeleteResult")) {
                Ok(answer) => answer,
                Err(failure) => {
                    attempts.again(failure).await?;
                    continue;
                }
            };
            let mut passing = None;
            for (key, outcome) in outcomes(&answer) {
                let failure = match outcome {
                    Ok(()) => None,
                    Err(failure) if failure.class == Class::NotFound => None,
                    Err(failure) if failure.class.passes() => {
                        passing = Some(failure);
                        continue;
                    }
                    Err(failure) => Some(failure),
                };
                let result = failure.map_or(Ok(()), |failure| Err(self.key_error(key, failure)));
                for at in left.remove(key).unwrap_or_default() {
                    set(results, at, result.clone());
                }
            }
            if !left.is_empty() {
                let silent = || Failure::corrupt(format!("the answer leaves out {} keys", left.len()));
                attempts.again(passing.unwrap_or_else(silent)).await?;
            }
        }
        attempts.end()
    }

    fn key_error(&self, key: &str, failure: Failure) -> Error {
        failure.into_error(&format!("delete {key:?}"), || self.sender.endpoint())
    }
}

fn set(results: &mut [Result<()>], at: usize, result: Result<()>) {
    if let Some(place) = results.get_mut(at) {
        *place = result;
    }
}

async fn request<'a>(keys: impl Iterator<Item = &'a str>) -> Result<Call<'static>> {
    let mut document = "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">".to_owned();
    for key in keys {
        document.push_str("<Object>");
        xml::write(&mut document, "Key", key);
        document.push_str("</Object>");
    }
    document.push_str("</Delete>");
    let mut call = Call::bucket(Verb::Delete, "delete many", Method::POST).query("delete", "");
    call.xml(document).await?;
    Ok(call)
}

/// What the answer says about each key.
fn outcomes(answer: &Element) -> impl Iterator<Item = (&str, std::result::Result<(), Failure>)> {
    answer.children().iter().filter_map(|child| {
        let key = child.text_of("Key")?;
        let text = |name| child.text_of(name).unwrap_or_default();
        match child.is("Error") {
            true => Some((key, Err(Failure::of_error(text("Code"), text("Message"))))),
            false => child.is("Deleted").then_some((key, Ok(()))),
        }
    })
}
