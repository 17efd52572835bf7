//! Numbers as people read them.

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
