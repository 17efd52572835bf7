use super::*;

/// A made-up `/` with these files.
fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    root
}

const RAM_16G: (&str, &str) = ("proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\n");

#[test]
fn without_a_cgroup_limit_ram_counts() {
    let root = machine(&[RAM_16G, ("proc/self/cgroup", "0::/\n"), ("sys/fs/cgroup/x/memory.max", "5\n")]);
    assert_eq!(limit(root.path()), Some(16 << 30));
    assert_eq!(share(limit(root.path())), 4 << 30);
}

#[test]
fn the_tightest_group_above_counts() {
    let root = machine(&[
        RAM_16G,
        ("proc/self/cgroup", "0::/a/b\n"),
        ("sys/fs/cgroup/a/memory.max", "1073741824\n"),
        ("sys/fs/cgroup/a/b/memory.max", "max\n"),
    ]);
    assert_eq!(limit(root.path()), Some(1 << 30));
    assert_eq!(share(limit(root.path())), 256 << 20);
}

#[test]
fn version_one_groups_count_too() {
    let root = machine(&[
        RAM_16G,
        ("proc/self/cgroup", "4:cpu,memory:/job\n0::/\n"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2147483648\n"),
    ]);
    assert_eq!(limit(root.path()), Some(2 << 30));
}

#[test]
fn what_was_asked_for_is_taken_and_nothing_known_is_survived() {
    assert_eq!(memory(Some(1 << 40)), 1 << 40);
    assert_eq!(limit(Path::new("/nonexistent")), None);
    assert_eq!(share(None), 512 << 20);
    assert_eq!(share(Some(1 << 20)), LEAST);
}

#[test]
fn little_memory_is_used_sparingly() {
    assert_eq!([64 << 20, 128 << 20, 512 << 20, 1 << 30, 4 << 30].map(background_max), [8, 8, 32, 64, 64]);
    assert_eq!([64 << 20, 1 << 30, 4 << 30].map(dirty_bytes_max), [32 << 20, 64 << 20, 128 << 20]);
    assert_eq!([64 << 20, 1 << 30, 4 << 30].map(buffers_max), [32, 384, 1152]);
    assert_eq!([64 << 20, 1 << 30, 4 << 30].map(|bytes| freed_memory_kept(bytes).as_millis()), [10, 128, 512]);
}
