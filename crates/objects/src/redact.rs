//! Makes text of other libraries short and fit to show: no query strings, no user info, no XML.

/// The longest text of a cause that is passed on, in bytes.
const TEXT_MAX: usize = 300;

/// The text of `error` and what caused it, short, on one line, without what could be secret.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        // Most errors repeat the text of their source in their own.
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = inner.source();
    }
    text
}

/// `text` made short: the code and message of an XML error body in place of the body, URLs without query and user info.
pub(crate) fn short(text: &str) -> String {
    let text = match (element(text, "Code"), element(text, "Message")) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        (Some(code), None) => code.to_owned(),
        _ => said(text).to_owned(),
    };
    let words: Vec<String> = text.split_whitespace().map(word).collect();
    let mut line = words.join(" ");
    if line.len() > TEXT_MAX {
        let mut end = TEXT_MAX;
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        line.truncate(end);
        line.push_str("...");
    }
    line
}

/// What went wrong with a request, without how the client introduces it (`Error performing GET http://... in 3ms - `).
fn said(text: &str) -> &str {
    let after = text.rsplit_once("Error performing ").and_then(|(_, rest)| rest.split_once(" - "));
    let said = after.map_or(text, |(_, said)| said);
    said.strip_prefix("HTTP error: ").unwrap_or(said)
}

/// The content of the first XML element `name` in `text`.
pub(crate) fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let open = format!("<{name}>");
    let (_, rest) = text.split_once(open.as_str())?;
    let (content, _) = rest.split_once('<')?;
    Some(content)
}

/// The scheme, host and port of the first HTTP URL in `text`.
pub(crate) fn endpoint(text: &str) -> Option<String> {
    let start = text.find("http://").or_else(|| text.find("https://"))?;
    let rest = text.get(start..)?;
    let end = rest.find(|c: char| c.is_whitespace() || matches!(c, ')' | '"' | '\'' | ',')).unwrap_or(rest.len());
    let url = url::Url::parse(rest.get(..end)?).ok()?;
    let host = url.host_str()?;
    Some(match url.port() {
        Some(port) => format!("{}://{host}:{port}", url.scheme()),
        None => format!("{}://{host}", url.scheme()),
    })
}

fn word(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else {
        return word.to_owned();
    };
    // A signed URL carries its signature in the query, and an endpoint may carry a password before the host.
    let (rest, cut) = match rest.split_once(['?', '#']) {
        Some((before, _)) => (before, "?..."),
        None => (rest, ""),
    };
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}{cut}")
}

#[cfg(test)]
mod tests;
