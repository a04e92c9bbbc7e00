//! The stdin and stdout of this process, as pipes of a play.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;

/// Takes stdin and stdout from this process, for good.
///
/// What takes their places is `/dev/null`: so closing them really closes them,
/// and no stray print gets between the messages.
#[cfg(unix)]
pub(super) fn take() -> io::Result<(tokio::fs::File, tokio::fs::File)> {
    use std::os::fd::AsFd;

    let null = std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/null")?;
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(&null)?;
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(&null)?;
    let file = |fd: std::os::fd::OwnedFd| tokio::fs::File::from_std(std::fs::File::from(fd));
    Ok((file(stdin), file(stdout)))
}

/// Takes stdin and stdout from this process, as far as that can be done.
#[cfg(not(unix))]
pub(super) fn take() -> io::Result<(tokio::io::Stdin, tokio::io::Stdout)> {
    Ok((tokio::io::stdin(), tokio::io::stdout()))
}

/// Ends the process when the first line is out.
pub(super) struct DiesAfterFirstLine<W> {
    pub(super) inner: W,
    pub(super) code: Option<u8>,
    pub(super) line_is_out: bool,
}

impl<W: AsyncWrite + Unpin> AsyncWrite for DiesAfterFirstLine<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.code.is_none() {
            return Pin::new(&mut self.inner).poll_write(cx, bytes);
        }
        // Not a byte of a second line gets out.
        if self.line_is_out {
            ready!(self.as_mut().poll_flush(cx))?;
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let bytes = end.map_or(bytes, |end| &bytes[..=end]);
        let written = ready!(Pin::new(&mut self.inner).poll_write(cx, bytes))?;
        self.line_is_out |= bytes[..written].contains(&b'\n');
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.inner).poll_flush(cx))?;
        if let Some(code) = self.code
            && self.line_is_out
        {
            std::process::exit(code.into());
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
