//! Points in time on the command line.

use chrono::{DateTime, NaiveDate, NaiveDateTime, SecondsFormat, Utc};
use std::time::SystemTime;

/// Reads a point in time: RFC 3339 with a zone, or without one in UTC; seconds and the time of day may be left out.
pub(super) fn moment(text: &str) -> Result<SystemTime, String> {
    let text = text.trim();
    if let Ok(zoned) = DateTime::parse_from_rfc3339(text) {
        return Ok(zoned.into());
    }
    for format in ["%Y-%m-%dT%H:%M%:z", "%Y-%m-%d %H:%M:%S%.f%:z", "%Y-%m-%d %H:%M%:z"] {
        if let Ok(zoned) = DateTime::parse_from_str(text, format) {
            return Ok(zoned.into());
        }
    }
    let plain = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    for format in ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M"] {
        if let Ok(time) = NaiveDateTime::parse_from_str(plain, format) {
            return Ok(time.and_utc().into());
        }
    }
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().and_then(|day| day.and_hms_opt(0, 0, 0));
    day.map(|day| day.and_utc().into())
        .ok_or_else(|| format!("'{text}' is no time; write 2026-11-20T12:00 (UTC), or 2026-11-20T12:00:30+01:00"))
}

/// A point in time as it is shown, and can be given again: in UTC, as exact as it is.
pub(crate) fn shown(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_utc_unless_they_say_otherwise() {
        for (text, same) in [
            ("2026-11-20T12:00", "2026-11-20T12:00:00Z"),
            ("2026-11-20 12:00:30.25", "2026-11-20T12:00:30.250Z"),
            ("2026-11-20T12:00Z", "2026-11-20T12:00:00Z"),
            ("2026-11-20T12:00+01:00", "2026-11-20T11:00:00Z"),
            ("2026-11-20T12:00:30-02:30", "2026-11-20T14:30:30Z"),
            ("2026-11-20", "2026-11-20T00:00:00Z"),
        ] {
            assert_eq!(shown(moment(text).unwrap()), same, "{text}");
            assert_eq!(moment(same), moment(text), "{text}");
        }
        for wrong in ["", "noon", "2026-13-01", "2026-11-20T25:00", "12:00"] {
            assert!(moment(wrong).unwrap_err().contains("2026-11-20T12:00"), "{wrong}");
        }
    }
}
