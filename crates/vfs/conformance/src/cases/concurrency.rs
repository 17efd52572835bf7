//! Many at once: each operation is done as if it were alone.

use crate::fs::{Fs, ROOT, WRITE, name, pattern, plain, same_bytes};
use bytes::Bytes;
use futures::future::join_all;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use stoa_vfs::{Error, Node, OpenFlags, RenameMode};

/// Runs `count` tasks and waits for all; a panic in one is a panic here.
async fn all<F>(count: usize, task: impl Fn(usize) -> F) -> Vec<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    let tasks: Vec<_> = (0..count).map(|number| tokio::spawn(task(number))).collect();
    join_all(tasks).await.into_iter().map(|result| result.unwrap()).collect()
}

pub async fn one_of_many_makers_wins(fs: Fs) {
    for round in 0..20 {
        let results = all(8, |_| {
            let fs = fs.clone();
            async move {
                let at = name(format!("contested-{round}"));
                fs.make(crate::fs::CALLER, ROOT, &at, &plain(Node::Regular)).await
            }
        })
        .await;
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        assert_eq!(results.iter().filter(|result| **result == Err(Error::Exists)).count(), 7);
    }
    assert_eq!(fs.names(ROOT).await.len(), 20);
}

pub async fn makers_fill_one_directory(fs: Fs) {
    let inos = all(8, |task| {
        let fs = fs.clone();
        async move {
            let mut inos = Vec::new();
            for file in 0..100 {
                inos.push(fs.file_with(ROOT, format!("{task}-{file}"), &pattern(file, 100)).await);
                fs.dir(ROOT, format!("dir-{task}-{file}")).await;
            }
            inos
        }
    })
    .await;
    assert_eq!(fs.names(ROOT).await.len(), 1_600);
    assert_eq!(fs.nlink(ROOT).await, 802);
    let mut inos = inos.concat();
    inos.sort_unstable();
    inos.dedup();
    assert_eq!(inos.len(), 800, "an inode number was given twice");
}

pub async fn writers_of_disjoint_ranges(fs: Fs) {
    const TASKS: usize = 8;
    const SIZE: usize = 5_003;
    const STEPS: usize = 40;
    let ino = fs.file(ROOT, "a").await;
    all(TASKS, |task| {
        let fs = fs.clone();
        async move {
            let handle = fs.open(ino, WRITE).await.unwrap();
            for step in 0..STEPS {
                let at = step * TASKS + task;
                let data = Bytes::from(pattern(at as u64, SIZE));
                fs.write(ino, handle, (at * SIZE) as u64, data, stoa_vfs::WriteFlags::default()).await.unwrap();
                if step % 13 == task {
                    fs.fsync(ino).await.unwrap();
                }
            }
            fs.release(ino, handle).await;
        }
    })
    .await;
    let expected: Vec<u8> = (0..TASKS * STEPS).flat_map(|at| pattern(at as u64, SIZE)).collect();
    fs.expect(ino, &expected).await;
}

pub async fn readers_never_see_bytes_that_were_not_written(fs: Fs) {
    // Every 4 KiB block is all of one version: old or new, and never zeros or a mixture.
    const BLOCK: usize = 4_096;
    let ino = fs.file_with(ROOT, "a", &[1; 16 * BLOCK]).await;
    let done = Arc::new(AtomicBool::new(false));
    let writer = {
        let (fs, done) = (fs.clone(), Arc::clone(&done));
        tokio::spawn(async move {
            for version in 2..200_u8 {
                fs.put(ino, u64::from(version % 16) * BLOCK as u64, &[version; BLOCK]).await;
                if version % 20 == 0 {
                    fs.fsync(ino).await.unwrap();
                }
            }
            done.store(true, Ordering::SeqCst);
        })
    };
    let handle = fs.open(ino, OpenFlags::default()).await.unwrap();
    while !done.load(Ordering::SeqCst) && !writer.is_finished() {
        for block in 0..16 {
            let data = fs.read(ino, handle, (block * BLOCK) as u64, BLOCK).await.unwrap().concat();
            assert_eq!(data.len(), BLOCK);
            assert_ne!(data[0], 0);
            same_bytes(&data, &[data[0]; BLOCK]);
        }
        tokio::task::yield_now().await;
    }
    writer.await.unwrap();
    fs.release(ino, handle).await;
}

pub async fn a_replaced_name_is_always_there(fs: Fs) {
    fs.file_with(ROOT, "config", b"version").await;
    let writer = {
        let fs = fs.clone();
        tokio::spawn(async move {
            for _ in 0..200 {
                fs.file_with(ROOT, "config.tmp", b"version").await;
                fs.rename(ROOT, &name("config.tmp"), ROOT, &name("config"), RenameMode::Replace).await.unwrap();
            }
        })
    };
    while !writer.is_finished() {
        let ino = fs.find(ROOT, "config").await.expect("the name was gone for a moment");
        fs.expect(ino, b"version").await;
        tokio::task::yield_now().await;
    }
    writer.await.unwrap();
    assert_eq!(fs.names(ROOT).await, ["config"]);
}

pub async fn directories_never_form_a_circle(fs: Fs) {
    for round in 0..50 {
        let (a, b) = (format!("a{round}"), format!("b{round}"));
        let dirs = [fs.dir(ROOT, &a).await, fs.dir(ROOT, &b).await];
        let names = [name(&a), name(&b)];
        let results = all(2, |task| {
            let (fs, names) = (fs.clone(), names.clone());
            async move { fs.rename(ROOT, &names[task], dirs[1 - task], &name("inside"), RenameMode::Replace).await }
        })
        .await;
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
        let inner = if results[0].is_ok() { dirs[0] } else { dirs[1] };
        let outer = if results[0].is_ok() { dirs[1] } else { dirs[0] };
        assert_eq!(fs.parent(inner).await, Ok(outer));
        assert_eq!(fs.parent(outer).await, Ok(ROOT));
    }
}

pub async fn renames_lose_no_file(fs: Fs) {
    const FILES: usize = 40;
    let dirs = [fs.dir(ROOT, "x").await, fs.dir(ROOT, "y").await, fs.dir(ROOT, "z").await];
    for file in 0..FILES {
        fs.file_with(dirs[0], file.to_string(), file.to_string().as_bytes()).await;
    }
    all(6, |task| {
        let fs = fs.clone();
        async move {
            for step in 0..300 {
                let file = name(((step * 7 + task * 11) % FILES).to_string());
                let (from, to) = (dirs[(step + task) % 3], dirs[(step + task * 2 + 1) % 3]);
                match fs.rename(from, &file, to, &file, RenameMode::NoReplace).await {
                    Ok(()) | Err(Error::NotFound | Error::Exists) => {}
                    Err(error) => panic!("{error:?}"),
                }
            }
        }
    })
    .await;
    let mut files = Vec::new();
    for dir in dirs {
        for (file, (ino, _)) in fs.list(dir).await {
            fs.expect(ino, &file).await;
            files.push(file);
        }
    }
    files.sort();
    files.dedup();
    assert_eq!(files.len(), FILES);
}

pub async fn links_are_counted(fs: Fs) {
    if !fs.can.hard_links {
        return;
    }
    let ino = fs.file(ROOT, "a").await;
    all(8, |task| {
        let fs = fs.clone();
        async move {
            for step in 0..50 {
                let at = name(format!("{task}-{step}"));
                fs.link(ino, ROOT, &at).await.unwrap();
                if step % 2 == 0 {
                    fs.unlink(ROOT, &at).await.unwrap();
                }
            }
        }
    })
    .await;
    assert_eq!(fs.nlink(ino).await, 201);
    assert_eq!(fs.names(ROOT).await.len(), 201);
}

pub async fn everything_at_once_on_few_names(fs: Fs) {
    all(8, |task| {
        let fs = fs.clone();
        async move {
            for step in 0..200_usize {
                let at = format!("n{}", (step * 5 + task) % 6);
                let other = name(format!("n{}", (step * 3 + task) % 6));
                // Each may be refused, as the others do what they do; none may hang, panic or break the tree.
                match (step + task) % 6 {
                    0 => drop(fs.make(crate::fs::CALLER, ROOT, &name(&at), &plain(Node::Regular)).await),
                    1 => drop(fs.unlink(ROOT, &name(&at)).await),
                    2 => drop(fs.rename(ROOT, &name(&at), ROOT, &other, RenameMode::Replace).await),
                    3 => drop(fs.readdir(ROOT, stoa_vfs::Cookie::START, 100, false).await.unwrap()),
                    4 => fs.sync().await.unwrap(),
                    _ => {
                        if let Ok(ino) = fs.find(ROOT, &at).await {
                            drop(fs.try_put(ino, step as u64, b"bytes").await);
                            fs.forget(ino, 1);
                        }
                    }
                }
            }
        }
    })
    .await;
    for (listed, (ino, _)) in fs.list(ROOT).await {
        assert_eq!(fs.find(ROOT, &listed).await, Ok(ino));
        assert_eq!(fs.nlink(ino).await, 1);
    }
}
