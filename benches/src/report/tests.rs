use super::Table;
use crate::figure::Figure;
use crate::options::Options;
use crate::proxy::{Requests, Traffic};
use crate::scenarios;
use crate::store::Way;
use crate::systems::System;
use clap::Parser;
use std::collections::BTreeSet;

fn figure(seconds: f64) -> Figure {
    let traffic = Traffic { requests: Requests { put: 64, ..Requests::default() }, sent: 1 << 30, received: 0 };
    let (cpu_seconds, peak_bytes) = (Some(1.0), Some(3 << 20));
    Figure { seconds, cpu_seconds, peak_bytes, traffic: Some(traffic), more: vec![("median ms", seconds)] }
}

#[test]
fn shows_medians_gaps_and_reasons() {
    let scenario = scenarios::ALL.first().unwrap();
    let systems = vec![System::Stoa, System::Raw, System::S3fs];
    let mut table = Table::new(Way::Direct, systems, &BTreeSet::from(["write", "read-cold"]));
    for seconds in [9.0, 0.1234, 2.0] {
        table.add(System::Stoa, scenario, vec![("write", figure(seconds))], None);
    }
    table.add(System::Raw, scenario, vec![("write", figure(1.0))], None);
    table.add(System::S3fs, scenario, vec![("write", figure(3.0))], Some("tried this\nno such thing\n".to_owned()));
    let text = table.markdown("a machine", &Options::parse_from(["bench", "--size", "512"]));
    for line in [
        "| 512 MiB sequential write + fsync | **2.00** | 1.00 | 3.00 |",
        "| 512 MiB sequential read, cold | - | - | - |",
        "| write | Stoa | 2.00 | 1.00 | 3 | 64 PUT | 1024.0 | 0.0 | median ms 2.00 |",
        "- s3fs, read-cold: no such thing",
        "- raw S3, read-cold: no equivalent as requests",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert!(table.has_failed(System::S3fs, scenario) && !table.has_failed(System::Stoa, scenario));
}
