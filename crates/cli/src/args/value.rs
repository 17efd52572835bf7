//! How sizes, times and log targets are written on the command line.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use stoa_objects::s3::Encryption;

/// Reads a size as coreutils do: `4096`, `512M` and `512MiB` (powers of 1024), `512MB` (powers of 1000), `1.5G`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let trimmed = text.trim();
    let digits = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let power = match unit.chars().next() {
        None | Some('b') => 0,
        Some('k') => 1,
        Some('m') => 2,
        Some('g') => 3,
        Some('t') => 4,
        Some('p') => 5,
        Some(_) => return Err(bad_size(text)),
    };
    let base: u64 = match unit.get(1..).unwrap_or("") {
        "" | "ib" => 1024,
        "b" if power > 0 => 1000,
        _ => return Err(bad_size(text)),
    };
    let factor = base.pow(power);
    if !number.contains('.') {
        let count: u64 = number.parse().map_err(|_| bad_size(text))?;
        return count.checked_mul(factor).ok_or_else(|| format!("{text} is more than 16 EiB"));
    }
    scale(number, factor).ok_or_else(|| bad_size(text))
}

/// `number`, which has a decimal point, times `factor`, rounded down, in whole numbers: a float would be off by some bytes.
fn scale(number: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.')?;
    if fraction.is_empty() || fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let tenths = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let total = (u128::from(whole) * tenths + fraction.parse::<u128>().ok()?) * u128::from(factor) / tenths;
    u64::try_from(total).ok()
}

fn bad_size(text: &str) -> String {
    format!("'{text}' is no size; write for instance 512M, 4GiB or 1.5T")
}

/// Reads a time: `500ms`, `5s`, `2m`, or a plain number of seconds; a millisecond at least and at most an hour.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let time = time(text)?;
    if time < Duration::from_millis(1) || time > Duration::from_secs(3600) {
        return Err(format!("'{text}' is not between 1ms and 1h"));
    }
    Ok(time)
}

/// Reads how long something is believed: a time, or 0, up to a year.
pub(crate) fn ttl(text: &str) -> Result<Duration, String> {
    let time = time(text)?;
    if time > Duration::from_secs(366 * 24 * 3600) {
        return Err(format!("'{text}' is more than a year"));
    }
    Ok(time)
}

/// Reads how old something is, in seconds or as `12h` or `7d`: up to a hundred years.
pub(crate) fn age(text: &str) -> Result<Duration, String> {
    let time = time(text)?;
    if time > Duration::from_secs(36_525 * 24 * 3600) {
        return Err(format!("'{text}' is more than a hundred years"));
    }
    Ok(time)
}

fn time(text: &str) -> Result<Duration, String> {
    match text.parse::<u64>() {
        Ok(seconds) => Ok(Duration::from_secs(seconds)),
        Err(_) => humantime::parse_duration(text)
            .map_err(|_| format!("'{text}' is no time; write for instance 500ms, 5s or 2m")),
    }
}

/// Reads permission bits in octal: `644`, `0644`.
pub(crate) fn mode(text: &str) -> Result<u32, String> {
    let bits = u32::from_str_radix(text, 8).ok().filter(|bits| *bits <= 0o777 && !text.starts_with('+'));
    bits.ok_or_else(|| format!("'{text}' is no mode; write for instance 0644"))
}

/// Reads how the server is to encrypt: `s3`, `kms`, `kms:KEY`, `c`.
pub(crate) fn encryption(text: &str) -> Result<Encryption, String> {
    let of = |algorithm: &str, key: Option<&str>| Encryption::Server {
        algorithm: algorithm.into(),
        key: key.map(str::to_owned),
    };
    match text.split_once(':') {
        None if text == "s3" => Ok(of("AES256", None)),
        None if text == "kms" => Ok(of("aws:kms", None)),
        Some(("kms", key)) if !key.is_empty() => Ok(of("aws:kms", Some(key))),
        None if text == "c" => Ok(Encryption::Customer),
        _ => Err(format!("'{text}' is no way to encrypt; write s3, kms, kms:KEY, or c with --sse-key-file")),
    }
}

/// Where to log, or how much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LogTarget {
    /// A level, or a filter of `target=level` pairs.
    Filter(String),
    /// A file.
    File(PathBuf),
}

impl FromStr for LogTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
        if text.is_empty() {
            return Err("neither a file nor a level".into());
        }
        let is_filter = LEVELS.contains(&text) || (text.contains('=') && !text.contains('/'));
        Ok(if is_filter { Self::Filter(text.into()) } else { Self::File(text.into()) })
    }
}

#[cfg(test)]
mod tests;
