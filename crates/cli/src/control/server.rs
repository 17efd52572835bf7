//! The mount's end of the control socket.

use super::protocol::{HEARTBEAT_SECS, REQUEST_BYTES_MAX};
use super::{Reply, Request, Step, Steps};
use serde_json::Value;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};

/// The most requests under way at once; more wait to be accepted.
const CONNECTIONS_MAX: usize = 32;
/// How long a request may take to arrive, and a line of an answer to be taken.
const PEER_PATIENCE: Duration = Duration::from_secs(15);
/// How long the connections may take to show that were made before the mount ended.
const LAST_CALL: Duration = Duration::from_millis(20);
/// How long answers may take once the mount ends.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// The least time between two lines of progress.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Who answers.
pub(crate) trait Answers: Send + Sync + 'static {
    /// Does what `request` asks, telling `steps` how far it is. Is dropped, at any point, if whoever asked has gone.
    fn answer(&self, request: Request, steps: &Steps) -> impl Future<Output = Result<Value, String>> + Send;
}

/// Answers requests of root and of user `owner` until it is told to stop; then those under way get a moment to be answered.
pub(crate) async fn serve(
    listener: UnixListener,
    owner: u32,
    answers: Arc<impl Answers>,
    mut stop: oneshot::Receiver<()>,
) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut under_way = tokio::task::JoinSet::new();
    loop {
        while under_way.try_join_next().is_some() {}
        let accepted = async {
            let place = Arc::clone(&room).acquire_owned().await.map_err(io::Error::other)?;
            Ok::<_, io::Error>((listener.accept().await?.0, place))
        };
        let accepted = tokio::select! {
            accepted = accepted => accepted,
            _ = &mut stop => break,
        };
        match accepted {
            Ok((stream, place)) => {
                let answers = Arc::clone(&answers);
                under_way.spawn(async move {
                    hear(stream, owner, &*answers).await;
                    drop(place);
                });
            }
            Err(error) => {
                // Out of descriptors, most likely: that passes, and must not end the mount.
                tracing::warn!(%error, "control socket: accept failed");
                sleep(Duration::from_secs(1)).await;
            }
        }
    }
    // Who asked before the end is answered, however soon that came.
    while let Ok(Ok((stream, _))) = timeout(LAST_CALL, listener.accept()).await {
        let answers = Arc::clone(&answers);
        under_way.spawn(async move { hear(stream, owner, &*answers).await });
    }
    // What can't be told in time ends with the connection, which whoever asked will see.
    let _ = timeout(LAST_WORDS, async { while under_way.join_next().await.is_some() {} }).await;
}

/// Whether user `peer` may ask a mount of user `owner`.
fn may_ask(peer: u32, owner: u32) -> bool {
    peer == 0 || peer == owner
}

async fn hear(stream: UnixStream, owner: u32, answers: &impl Answers) {
    if let Err(error) = converse(stream, owner, answers).await {
        tracing::debug!(%error, "control connection ended early");
    }
}

async fn converse(stream: UnixStream, owner: u32, answers: &impl Answers) -> io::Result<()> {
    let peer = stream.peer_cred()?.uid();
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    if !may_ask(peer, owner) {
        return send(
            &mut write,
            &Reply::Failed(format!("this mount belongs to user {owner}, and you are user {peer}")),
        )
        .await;
    }
    let mut line = String::new();
    timeout(PEER_PATIENCE, (&mut read).take(REQUEST_BYTES_MAX).read_line(&mut line)).await??;
    let request = match serde_json::from_str(&line) {
        Ok(request) => request,
        Err(error) => {
            return send(
                &mut write,
                &Reply::Failed(format!("request not understood: {error}; do the versions differ?")),
            )
            .await;
        }
    };
    let (steps, heard) = Steps::new();
    let result = {
        let answer = answers.answer(request, &steps);
        tokio::select! {
            result = answer => result,
            ended = narrate(heard, &mut write) => return ended,
            () = hung_up(&mut read) => return Ok(()),
        }
    };
    send(&mut write, &result.map_or_else(Reply::Failed, Reply::Done)).await
}

/// Sends each new step, not too often, and the last one again when nothing is new for a while. Ends only by an error.
async fn narrate(mut heard: watch::Receiver<Step>, write: &mut OwnedWriteHalf) -> io::Result<()> {
    let mut pace = interval(PROGRESS_EVERY);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let heartbeat = Duration::from_secs(HEARTBEAT_SECS);
    let mut sent = Instant::now();
    loop {
        pace.tick().await;
        if heard.has_changed().unwrap_or(false) || sent.elapsed() >= heartbeat {
            let Step { stage, done, total } = heard.borrow_and_update().clone();
            send(write, &Reply::Progress { stage, done, total }).await?;
            sent = Instant::now();
        }
    }
}

/// Returns when whoever asked is gone. Anything more it says is not part of the protocol and ends it too.
async fn hung_up(read: &mut BufReader<OwnedReadHalf>) {
    let mut byte = [0];
    let _ = read.read(&mut byte).await;
}

async fn send(write: &mut OwnedWriteHalf, reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    timeout(PEER_PATIENCE, write.write_all(&line)).await?
}

#[cfg(test)]
mod tests;
