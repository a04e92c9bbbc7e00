//! `acp-mockpeer agent --join`: the agent that a client starts, while another
//! process of ours plays it.

use std::io;
use std::path::Path;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

use super::{Misuse, say};
use crate::judge::{Head, MOST_IN_A_FRAME};

/// Joins stdin and stdout with the socket at this place until the player ends us.
#[cfg(unix)]
pub(super) fn run(place: &Path) -> Result<u8, Misuse> {
    let runtime = super::runtime()?;
    let joined = runtime.block_on(async {
        let stream = tokio::net::UnixStream::connect(place)
            .await
            .map_err(|error| {
                Misuse(format!(
                    "--join {}: {error}; an agent is started once for each scenario",
                    place.display()
                ))
            })?;
        let (stdin, stdout) = acp_process::stdio::protocol_stdio()?;
        let (from_player, to_player) = stream.into_split();
        let up = tokio::spawn(up(stdin, to_player));
        let ended = down(from_player, stdout).await;
        up.abort();
        Ok::<_, Misuse>(ended?)
    });
    // A read of stdin may still hang; it must not hold us.
    runtime.shutdown_background();
    match joined? {
        Head::Exit(code) => Ok(code),
        Head::Signal(number) => Ok(super::agent::end_by(number)),
        // The player is gone without a word.
        Head::Close | Head::Bytes(_) => Ok(super::EXIT_FAILED),
    }
}

#[cfg(not(unix))]
pub(super) fn run(_: &Path) -> Result<u8, Misuse> {
    Err(Misuse("--join works on Unix only".to_owned()))
}

/// Passes on what the client says, and that it closed.
async fn up(
    mut stdin: impl AsyncRead + Unpin,
    mut to_player: impl tokio::io::AsyncWrite + Unpin,
) -> io::Result<()> {
    tokio::io::copy(&mut stdin, &mut to_player).await?;
    to_player.shutdown().await
}

/// Does what the player says, until it says how to end.
async fn down(
    mut from_player: impl AsyncRead + Unpin,
    stdout: impl tokio::io::AsyncWrite + Unpin,
) -> io::Result<Head> {
    let mut stdout = Some(stdout);
    let mut buffer = vec![0; usize::try_from(MOST_IN_A_FRAME).unwrap_or_default()];
    loop {
        let mut head = [0; 4];
        match from_player.read_exact(&mut head).await {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(Head::Close),
            Err(error) => return Err(error),
        }
        match Head::from_bytes(head) {
            Some(Head::Bytes(length)) => {
                let bytes = &mut buffer[..usize::try_from(length).unwrap_or_default()];
                from_player.read_exact(bytes).await?;
                // A client that reads no more finds that out when we end.
                let Some(out) = &mut stdout else { continue };
                if let Err(error) = super::put(out, bytes).await {
                    say(format_args!("write to stdout: {error}"));
                    stdout = None;
                }
            }
            Some(Head::Close) => stdout = None,
            Some(end) => return Ok(end),
            None => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}
