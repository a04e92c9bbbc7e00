//! The side that runs a turn.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::socket::{Listener, same_user};
use super::{Answer, Ask, Ended, Line, Live, VERSION};
use crate::sessions::control::caller::read_line;
use crate::sessions::limits::{ACCEPT_REST, CALL_TIMEOUT, LAST_WORD, MAX_CALLERS};

/// Lets other processes reach the turn that runs in this one.
///
/// Dropped, it listens no more.
#[derive(Debug)]
pub(crate) struct Control {
    path: PathBuf,
    live: Arc<Live>,
    /// Closed when nobody is to be let in any more.
    open: watch::Sender<bool>,
    server: tokio::task::JoinHandle<()>,
}

impl Control {
    /// Begins to listen. Whoever calls this holds the session: what lies at the path was
    /// left by who died.
    pub(crate) fn listen(path: &Path, live: Arc<Live>) -> io::Result<Self> {
        let listener = Listener::bind(path)?;
        let (open, shut) = watch::channel(true);
        let server = tokio::spawn(serve(listener, Arc::clone(&live), shut));
        Ok(Self {
            path: path.to_owned(),
            live,
            open,
            server,
        })
    }

    /// Lets nobody in any more, and waits until what was wanted is carried out. To be
    /// called while the session is still held, for the path is the next one's then, and
    /// when the agent is gone, so that everything it was asked has come to an end.
    pub(crate) async fn shut(&self, ended: &Ended) {
        self.open.send_replace(false);
        Listener::remove(&self.path);
        // It takes no longer than writing a file.
        let _ = timeout(LAST_WORD, self.live.settle(ended.clone())).await;
    }

    /// Tells those who wait how the turn ended. To be called when the session is free.
    pub(crate) async fn end(self, ended: Ended) {
        self.live.end(ended);
        // Who does not listen hears the end of the connection.
        let _ = timeout(LAST_WORD, self.server).await;
    }
}

/// Serves callers until the turn is over, and then until each has its answer.
async fn serve(listener: Listener, live: Arc<Live>, mut shut: watch::Receiver<bool>) {
    let mut callers = JoinSet::new();
    loop {
        tokio::select! {
            () = is_shut(&mut shut) => break,
            Some(_) = callers.join_next() => {}
            stream = listener.accept(), if callers.len() < MAX_CALLERS => match stream {
                Ok(stream) if same_user(&stream) => {
                    let live = Arc::clone(&live);
                    callers.spawn(async move { serve_caller(stream, &live).await });
                }
                Ok(_) => {}
                // The caller is gone already, or there is no room for one more.
                Err(_) => sleep(ACCEPT_REST).await,
            },
        }
    }
    drop(listener);
    while callers.join_next().await.is_some() {}
}

async fn is_shut(shut: &mut watch::Receiver<bool>) {
    // Its owner may be gone without a word, which says the same.
    let _ = shut.wait_for(|open| !open).await;
}

/// Serves one caller. When it goes away there is nobody to tell.
pub(super) async fn serve_caller<S>(stream: S, live: &Live) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Send + Unpin,
{
    let mut stream = tokio::io::BufReader::new(stream);
    let line = timeout(CALL_TIMEOUT, read_line(&mut stream)).await??;
    let ask = match line.as_deref().map(serde_json::from_slice::<Line>) {
        Some(Ok(line)) if line.version == VERSION => line.ask,
        _ => {
            let message = "failed to understand the caller: it is another version of acp".into();
            return answer(&mut stream, &Answer::Failed { message }).await;
        }
    };
    let waits = ask == Ask::Cancel;
    let said = live.serve(ask).await;
    answer(&mut stream, &said).await?;
    if waits {
        let ended = live.over().await;
        answer(&mut stream, &Answer::Ended(ended)).await?;
    }
    Ok(())
}

async fn answer(stream: &mut (impl AsyncWrite + Unpin), answer: &Answer) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    timeout(CALL_TIMEOUT, async {
        stream.write_all(&line).await?;
        stream.flush().await
    })
    .await?
}
