//! What a mount tells about itself: `stoa stats`, `stoa profile`, `stoa mount --metrics`, `stoa warmup`,
//! `stoa bench`.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use stoa_tests::command::{output, program, run, until, wait};
use stoa_tests::{Place, Setup, content, in_place, scale, tools};

const LEN: u64 = 4 << 20;

fn limit() -> Duration {
    scale::minutes(1, 1)
}

fn stoa(args: &[&str], target: &Path) -> Result<Command> {
    let mut stoa = program(tools::stoa()?);
    stoa.args(args).arg(target);
    Ok(stoa)
}

fn json(args: &[&str], target: &Path) -> Result<Value> {
    let text = run(&mut stoa(args, target)?, limit())?;
    serde_json::from_str(&text).with_context(|| format!("{args:?} printed {text}"))
}

fn number(value: &Value, path: &str) -> Result<f64> {
    value.pointer(path).and_then(Value::as_f64).with_context(|| format!("no number {path} in {value}"))
}

/// Writes a file, and waits until it is in the store.
fn write(place: &Place, name: &str, len: u64) -> Result<()> {
    let file = File::create(place.path(name))?;
    file.write_all_at(&content::bytes(1, usize::try_from(len)?), 0)?;
    Ok(file.sync_all()?)
}

/// A command that goes on until it is ended, whose lines are read one by one.
struct Live {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Live {
    fn start(mut command: Command) -> Result<Self> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let lines = BufReader::new(child.stdout.take().context("no stdout")?);
        Ok(Self { child, lines })
    }

    fn line(&mut self) -> Result<Value> {
        let mut line = String::new();
        ensure!(self.lines.read_line(&mut line)? > 0, "it ended: {}", self.complaint()?);
        serde_json::from_str(&line).with_context(|| line.clone())
    }

    /// What it says when it ends.
    fn complaint(&mut self) -> Result<String> {
        let mut text = String::new();
        self.child.stderr.take().context("no stderr")?.read_to_string(&mut text)?;
        Ok(text)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn observability_stats_tell_what_happens_and_end_with_the_mount() -> Result<()> {
    in_place(Setup::new("o-stats"), |place| {
        write(place, "before", LEN)?;
        let dir = place.dir().to_owned();
        let mut live = Live::start(stoa(&["stats", "--json", "--interval", "200ms"], &dir)?)?;
        let first = live.line()?;
        ensure!(first["since_mount"] == true, "{first}");
        let written = number(&first, "/written_bytes_per_second")? * number(&first, "/seconds")?;
        ensure!(written >= LEN as f64 * 0.99, "{written} bytes written: {first}");
        write(place, "during", LEN)?;
        let (mut written, mut sent, mut operations) = (0.0, 0.0, 0.0);
        for _ in 0..100 {
            let line = live.line()?;
            ensure!(line["since_mount"] == false, "{line}");
            let seconds = number(&line, "/seconds")?;
            written += number(&line, "/written_bytes_per_second")? * seconds;
            sent += number(&line, "/sent_bytes_per_second")? * seconds;
            operations += number(&line, "/operations_per_second")? * seconds;
            ensure!(number(&line, "/memory_bytes")? > 1e6, "{line}");
            // Compressed, it is less.
            if sent >= LEN as f64 / 4.0 {
                break;
            }
        }
        ensure!(written >= LEN as f64 * 0.99 && written < LEN as f64 * 1.5, "{written} bytes written");
        ensure!(sent >= LEN as f64 / 4.0 && operations >= 3.0, "{sent} bytes sent, {operations} operations");
        place.unmount()?;
        until("stats end with the mount", limit(), || Ok(live.child.try_wait()?.is_some()))?;
        let complaint = live.complaint()?;
        ensure!(complaint.contains("has ended") && complaint.contains(&dir.display().to_string()), "{complaint}");
        ensure!(live.child.wait()?.code() == Some(1), "{complaint}");
        Ok(())
    })
}

#[test]
fn observability_stats_end_quietly() -> Result<()> {
    in_place(Setup::new("o-quiet"), |place| {
        // A closed pipe.
        let script = "\"$0\" stats --interval 100ms \"$1\" | head -n 3; test \"${PIPESTATUS[0]}\" = 0";
        let mut bash = program("bash");
        let ended = output(bash.arg("-c").arg(script).arg(tools::stoa()?).arg(place.dir()), limit())?;
        ensure!(ended.status.success() && ended.stderr.is_empty(), "{}", ended.quoted());
        ensure!(ended.stdout.lines().count() == 3 && ended.stdout.contains("dirty"), "{}", ended.stdout);
        // So many lines.
        let text = run(&mut stoa(&["stats", "--interval", "100ms", "--count", "2"], place.dir())?, limit())?;
        ensure!(text.lines().count() == 4, "{text}");
        // ^C.
        let mut live = Live::start(stoa(&["stats", "--json"], place.dir())?)?;
        live.line()?;
        let pid = rustix::process::Pid::from_child(&live.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT)?;
        ensure!(wait(&mut live.child, limit())?.is_some(), "it does not end");
        let complaint = live.complaint()?;
        ensure!(complaint.is_empty(), "{complaint}");
        // Nothing to watch.
        let failed = output(&mut stoa(&["stats"], place.scratch())?, limit())?;
        ensure!(failed.status.code() == Some(1) && failed.stderr.contains("is not mounted"), "{}", failed.quoted());
        Ok(())
    })
}

#[test]
fn observability_profile_names_what_was_done() -> Result<()> {
    in_place(Setup::new("o-profile"), |place| {
        write(place, "file", LEN)?;
        let profile = json(&["profile", "--json"], place.dir())?;
        let of = |profile: &Value, name: &str| -> Result<Value> {
            let all = profile["operations"].as_array().context("no operations")?;
            all.iter().find(|one| one["operation"] == name).cloned().with_context(|| format!("no {name} in {profile}"))
        };
        let fsync = of(&profile, "fsync")?;
        ensure!(fsync["count"] == 1, "{fsync}");
        let [p50, p99, max] = ["/p50_seconds", "/p99_seconds", "/max_seconds"].map(|path| number(&fsync, path));
        let (p50, p99, max) = (p50?, p99?, max?);
        ensure!(p50 > 0.0 && p50 <= p99 && p99 <= max && max < 60.0, "{fsync}");
        let totals: Vec<f64> = profile["operations"]
            .as_array()
            .context("no operations")?
            .iter()
            .map(|one| number(one, "/total_seconds"))
            .collect::<Result<_>>()?;
        ensure!(totals.is_sorted_by(|a, b| a >= b), "not sorted by total: {totals:?}");
        // Only what happens meanwhile.
        let mut watch = stoa(&["profile", "--json", "--for", "2s"], place.dir())?;
        let mut watch = watch.stdout(Stdio::piped()).spawn()?;
        std::thread::sleep(Duration::from_millis(700));
        for number in 0..10 {
            std::fs::create_dir(place.path(format!("d{number}")))?;
        }
        let mut text = String::new();
        watch.stdout.take().context("no stdout")?.read_to_string(&mut text)?;
        ensure!(watch.wait()?.success(), "{text}");
        let during: Value = serde_json::from_str(&text)?;
        ensure!(of(&during, "mkdir")?["count"] == 10, "{during}");
        if let Ok(fsync) = of(&during, "fsync") {
            bail!("an fsync of before is in the interval: {fsync}");
        }
        let text = run(&mut stoa(&["profile"], place.dir())?, limit())?;
        ensure!(text.contains("mkdir") && text.contains("p99"), "{text}");
        Ok(())
    })
}

/// Asks `address` for `path`, and returns the head and the body of the answer.
fn http(address: &str, request: &str) -> Result<(String, String)> {
    let mut stream = std::net::TcpStream::connect(address)?;
    stream.set_read_timeout(Some(limit()))?;
    write!(stream, "{request} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let (head, body) = text.split_once("\r\n\r\n").context("no head")?;
    Ok((head.to_owned(), body.to_owned()))
}

fn sample(text: &str, name: &str) -> Result<f64> {
    let line = text.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
    let value = line.and_then(|line| line.rsplit_once(' ')).with_context(|| format!("no {name} in\n{text}"))?.1;
    Ok(value.parse()?)
}

#[test]
fn observability_metrics_are_served_while_it_is_mounted() -> Result<()> {
    in_place(Setup::new("o-metrics"), |place| {
        place.unmount()?;
        place.mount(&["--metrics", "127.0.0.1:0"])?;
        let status = place.status()?;
        let url = status.pointer("/0/metrics").and_then(Value::as_str).context("status shows no address")?.to_owned();
        let address = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/metrics")).context("no URL")?;
        write(place, "file", LEN)?;
        let (head, text) = http(address, "GET /metrics")?;
        ensure!(head.starts_with("HTTP/1.1 200") && head.contains("text/plain; version=0.0.4"), "{head}");
        ensure!(sample(&text, "stoa_written_bytes_total")? >= LEN as f64, "{text}");
        ensure!(sample(&text, "stoa_operation_duration_seconds_count{operation=\"fsync\"}")? == 1.0, "{text}");
        ensure!(sample(&text, "stoa_store_requests_total{verb=\"put\"}")? >= 1.0, "{text}");
        ensure!(sample(&text, "stoa_resident_memory_bytes")? > 1e6, "{text}");
        for (request, code) in [("GET /", "404"), ("POST /metrics", "405"), ("GET /etc/passwd", "404")] {
            let (head, _) = http(address, request)?;
            ensure!(head.starts_with(&format!("HTTP/1.1 {code}")), "{request}: {head}");
        }
        let (head, body) = http(address, "HEAD /metrics")?;
        ensure!(head.starts_with("HTTP/1.1 200") && body.is_empty(), "{head}{body}");
        let mut stream = std::net::TcpStream::connect(address)?;
        stream.write_all(b"\x16\x03\x01 this is no HTTP\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        ensure!(text.starts_with("HTTP/1.1 400"), "{text}");
        // The port is taken: that is said before anything is mounted.
        let other = place.scratch().join("other");
        std::fs::create_dir(&other)?;
        let mut second =
            stoa(&["mount", "--create", "--metrics", address, "--log", "off"], &place.scratch().join("s2"))?;
        let refused = output(second.arg(&other), limit())?;
        ensure!(refused.status.code() == Some(1) && refused.stderr.contains("another port"), "{}", refused.quoted());
        place.unmount()?;
        ensure!(std::net::TcpStream::connect(address).is_err(), "it still listens");
        Ok(())
    })
}

#[test]
fn observability_warmup_fills_the_cache() -> Result<()> {
    in_place(Setup::new("o-warmup"), |place| {
        std::fs::create_dir_all(place.path("tree/sub"))?;
        for number in 0..6 {
            write(place, &format!("tree/sub/{number}"), 1 << 20)?;
        }
        // 64 GiB of hole.
        File::create(place.path("tree/sparse"))?.write_all_at(b"end", 64 << 30)?;
        place.remount()?;
        let report = json(&["warmup", "--json"], &place.path("tree"))?;
        ensure!(report["files"] == 7 && report["errors"] == serde_json::json!([]), "{report}");
        ensure!(report["stopped"].is_null(), "{report}");
        let bytes = number(&report, "/bytes")?;
        ensure!((6.0 * 1048576.0..9.0 * 1048576.0).contains(&bytes), "{report}");
        // What is in the cache needs no request.
        let gets = |place: &Place| -> Result<f64> {
            let text = run(&mut stoa(&["stats", "--json", "--count", "1"], place.dir())?, limit())?;
            let line: Value = serde_json::from_str(&text)?;
            Ok(number(&line, "/received_bytes_per_second")? * number(&line, "/seconds")?)
        };
        let before = gets(place)?;
        for number in 0..6 {
            let read = std::fs::read(place.path(format!("tree/sub/{number}")))?;
            ensure!(read == content::bytes(1, 1 << 20), "file {number} is not what was written");
        }
        let after = gets(place)?;
        ensure!(after - before < 100_000.0, "{} bytes came from the store", after - before);
        // Errors are listed, and the others are read all the same.
        let refused = output(&mut stoa(&["warmup"], place.scratch())?, limit())?;
        ensure!(
            refused.status.code() == Some(1) && refused.stderr.contains("not in a Stoa mount"),
            "{}",
            refused.quoted()
        );
        let missing = output(&mut stoa(&["warmup"], &place.path("missing"))?, limit())?;
        ensure!(missing.status.code() == Some(1) && missing.stderr.contains("missing"), "{}", missing.quoted());
        Ok(())
    })
}

/// By default a cache may take 10 GiB: on a disk that is smaller it takes what there is, and leaves something.
#[test]
fn observability_a_cache_on_a_small_disk_is_used() -> Result<()> {
    in_place(Setup::new("o-small-disk"), |place| {
        let disk = place.scratch().join("disk");
        std::fs::create_dir(&disk)?;
        run(program("mount").args(["-t", "tmpfs", "-o", "size=40m", "tmpfs"]).arg(&disk), limit())?;
        let used = cached_on(place, &disk);
        place.unmount()?;
        run(program("umount").arg(&disk), limit())?;
        let (cached, taken) = used?;
        ensure!(cached > 8 << 20 && taken < 38 << 20, "{cached} bytes cached, {taken} taken of 40 MiB");
        Ok(())
    })
}

/// Reads more than fits into a cache there; the bytes that it says it holds, and those that the disk does.
fn cached_on(place: &mut Place, disk: &Path) -> Result<(u64, u64)> {
    for number in 0..10 {
        std::fs::write(place.path(format!("{number}")), content::bytes(number, 8 << 20))?;
    }
    place.unmount()?;
    place.mount(&["--memory", "64M", "--cache-dir", &disk.to_string_lossy()])?;
    for _ in 0..6 {
        for number in 0..10 {
            content::check(&place.path(format!("{number}")), &content::bytes(number, 8 << 20))?;
        }
    }
    let status = place.status()?;
    let cached = status.pointer("/0/volume/cache_disk_bytes").and_then(Value::as_u64).context("no count")?;
    let about = rustix::fs::statvfs(disk)?;
    Ok((cached, (about.f_blocks - about.f_bfree) * about.f_frsize))
}

#[test]
fn observability_warmup_stops_when_the_cache_is_full() -> Result<()> {
    in_place(Setup::new("o-full"), |place| {
        for number in 0..10 {
            write(place, &format!("{number}"), 4 << 20)?;
        }
        place.unmount()?;
        place.mount(&["--memory", "64M"])?;
        let warmed = output(&mut stoa(&["warmup", "--json"], place.dir())?, limit())?;
        let report: Value = serde_json::from_str(&warmed.stdout).with_context(|| warmed.quoted())?;
        ensure!(warmed.status.success() && report["stopped"] == "the cache is full", "{report}");
        let (bytes, room) = (number(&report, "/bytes")?, number(&report, "/cache/bytes_max")?);
        ensure!(bytes <= room && bytes >= room / 4.0 && room < 20e6, "{report}");
        ensure!(warmed.stderr.contains("are asked for") && warmed.stderr.contains("--cache-dir"), "{}", warmed.stderr);
        Ok(())
    })
}

/// Every path below `dir`, but for what the volume itself writes meanwhile.
fn benches_left(dir: &Path) -> Result<Vec<String>> {
    let mut left = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.contains("bench") {
            left.push(name);
        }
    }
    Ok(left)
}

#[test]
fn observability_bench_measures_and_leaves_nothing() -> Result<()> {
    in_place(Setup::new("o-bench"), |place| {
        let both = json(&["bench", "--json", "--size", "16M"], place.dir())?;
        for path in
            ["/store/put/bytes_per_second", "/store/small_get/p99_seconds", "/mount/write_and_fsync/bytes_per_second"]
        {
            ensure!(number(&both, path)? > 0.0, "{path}: {both}");
        }
        ensure!(number(&both, "/mount/read_back/bytes")? == f64::from(16 << 20), "{both}");
        let text = run(&mut stoa(&["bench", "--size", "1M"], place.dir())?, limit())?;
        ensure!(text.contains("large writes") && text.contains("mount"), "{text}");
        // ^C in the middle, while files are made.
        let mut command = stoa(&["bench", "--size", "1G"], place.dir())?;
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let is_under_way = || Ok(!benches_left(place.dir())?.is_empty());
        until("files are being written", limit(), is_under_way)?;
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT)?;
        let status = wait(&mut child, limit())?.context("it does not end")?;
        ensure!(status.code() == Some(130), "{status}");
        ensure!(std::fs::read_dir(place.dir())?.count() == 0, "left: {:?}", benches_left(place.dir())?);
        place.unmount()?;
        // The raw store, without a mount.
        let report = place.stoa("bench", &["--json", "--size", "1M"])?;
        ensure!(report.status.success(), "{}", report.quoted());
        let report: Value = serde_json::from_str(&report.stdout)?;
        ensure!(report["mount"].is_null() && number(&report, "/store/list_objects")? >= 101.0, "{report}");
        let objects = place.scratch().join("store");
        if objects.is_dir() {
            let plain = place.scratch().join("plain");
            std::fs::create_dir(&plain)?;
            run(&mut stoa(&["bench", "--size", "1M"], &plain)?, limit())?;
            ensure!(std::fs::read_dir(&plain)?.count() == 0, "the directory is not as it was");
            ensure!(benches_left(&objects)?.is_empty(), "left: {:?}", benches_left(&objects)?);
        }
        place.expect_clean()?;
        Ok(())
    })
}
