//! Numbers as people read them.

use std::time::Duration;

/// `bytes` with a unit: `0 B`, `512 B`, `1.5 KiB`, `12.3 MiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut unit_bytes: u128 = 1024;
    let mut name = "KiB";
    for next in UNITS.iter().skip(1) {
        // 1023.95 KiB would be shown as 1024.0 KiB: the step to the next unit comes where rounding would reach it.
        if tenths(bytes, unit_bytes) < 10_240 {
            break;
        }
        unit_bytes *= 1024;
        name = next;
    }
    let tenths = tenths(bytes, unit_bytes);
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

/// `bytes` in tenths of `unit_bytes`, rounded to the nearest.
fn tenths(bytes: u64, unit_bytes: u128) -> u128 {
    (u128::from(bytes) * 10 + unit_bytes / 2) / unit_bytes
}

/// What of a mount is not in its store: bytes that were written, and operations on names.
pub(crate) fn unstored(dirty_bytes: u64, operations: u64) -> String {
    format!("{} and {}", bytes(dirty_bytes), plural(operations, "operation"))
}

/// A number in at most five places, for narrow columns: `0`, `999`, `1.5K`, `12.3M`, `1023M`. Steps are of 1024 for bytes.
pub(crate) fn short(number: u64, step: u64) -> String {
    let mut unit = 1_u128;
    for name in ["", "K", "M", "G", "T", "P", "E"] {
        let tenths = (u128::from(number) * 10 + unit / 2) / unit;
        let whole = (u128::from(number) + unit / 2) / unit;
        if whole < u128::from(step) {
            let shown = if name.is_empty() || tenths >= 1000 {
                whole.to_string()
            } else {
                format!("{}.{}", tenths / 10, tenths % 10)
            };
            return format!("{shown}{name}");
        }
        unit *= u128::from(step);
    }
    // 2^64 is 16 E.
    number.to_string()
}

/// A time with three figures: `850 ns`, `1.23 us`, `45.6 ms`, `1.20 s`, `3m 5s`, `2h 5m`.
pub(crate) fn time(time: Duration) -> String {
    let nanos = time.as_nanos();
    let seconds = time.as_secs();
    match seconds {
        3600.. => return format!("{}h {}m", seconds / 3600, seconds / 60 % 60),
        // What would be rounded to 100 s has figures enough.
        100.. => return format!("{}m {}s", seconds / 60, seconds % 60),
        _ => {}
    }
    if nanos < 1000 {
        return format!("{nanos} ns");
    }
    for (unit, name) in [(1_000_u128, "us"), (1_000_000, "ms"), (1_000_000_000, "s")] {
        // Rounded first: 9.999 is 10.0 and not 10.00.
        let hundredths = (nanos * 100 + unit / 2) / unit;
        if hundredths < 1_000 {
            return format!("{}.{:02} {name}", hundredths / 100, hundredths % 100);
        }
        if hundredths < 9_995 {
            return format!("{}.{} {name}", (hundredths + 5) / 100, (hundredths + 5) / 10 % 10);
        }
        if hundredths < 99_950 {
            return format!("{} {name}", (hundredths + 50) / 100);
        }
    }
    format!("{seconds} s")
}

/// A number in groups of three digits.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `number` of things: `1 file`, `2 files`.
pub(crate) fn plural(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", count(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests;
