//! The stream below a connection: of bytes, or of messages.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use acp_protocol::rpc::Intake;
use bytes::Bytes;
use futures_core::Stream;
use futures_sink::Sink;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::io::poll_read_buf;

/// Bytes of messages that are read before they are dispatched: as many as of a pipe.
const READ_AT_ONCE: usize = 64 << 10;

/// What a driver needs of the stream below it.
pub(crate) trait Link {
    /// Reads what is there into the intake; false at the end of the stream.
    fn poll_read(&mut self, cx: &mut Context<'_>, intake: &mut Intake) -> Poll<io::Result<bool>>;

    /// Writes from the beginning of `lines`, and returns how many bytes it took.
    fn poll_write(&mut self, cx: &mut Context<'_>, lines: &[u8]) -> Poll<io::Result<usize>>;

    /// Sends what was written.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Ends the stream on this side.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
}

/// A stream of bytes, in which every message is a line.
pub(crate) struct ByteLink<R, W> {
    pub(crate) reader: R,
    pub(crate) writer: W,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Link for ByteLink<R, W> {
    #[inline]
    fn poll_read(&mut self, cx: &mut Context<'_>, intake: &mut Intake) -> Poll<io::Result<bool>> {
        poll_read_buf(Pin::new(&mut self.reader), cx, intake.buffer()).map_ok(|length| length != 0)
    }

    #[inline]
    fn poll_write(&mut self, cx: &mut Context<'_>, lines: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.writer).poll_write(cx, lines)
    }

    #[inline]
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_shutdown(cx)
    }
}

/// A stream of messages, one an item, as WebSocket has it.
pub(crate) struct MessageLink<R, W> {
    stream: R,
    sink: W,
    /// The end of the stream, where it came right behind messages.
    end: Option<io::Result<bool>>,
}

impl<R, W> MessageLink<R, W> {
    pub(crate) fn new(stream: R, sink: W) -> Self {
        Self {
            stream,
            sink,
            end: None,
        }
    }
}

impl<R, W, M> Link for MessageLink<R, W>
where
    R: Stream<Item = io::Result<M>> + Unpin,
    W: Sink<Bytes, Error = io::Error> + Unpin,
    M: AsRef<[u8]>,
{
    fn poll_read(&mut self, cx: &mut Context<'_>, intake: &mut Intake) -> Poll<io::Result<bool>> {
        if let Some(end) = self.end.take() {
            return Poll::Ready(end);
        }
        let mut read = 0;
        while read < READ_AT_ONCE {
            let end = match Pin::new(&mut self.stream).poll_next(cx) {
                Poll::Ready(Some(Ok(message))) => {
                    let message = message.as_ref();
                    intake.push_message(message);
                    read += message.len() + 1;
                    continue;
                }
                Poll::Ready(Some(Err(error))) => Err(error),
                Poll::Ready(None) => Ok(false),
                Poll::Pending if read > 0 => break,
                Poll::Pending => return Poll::Pending,
            };
            if read == 0 {
                return Poll::Ready(end);
            }
            self.end = Some(end);
            break;
        }
        Poll::Ready(Ok(true))
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, lines: &[u8]) -> Poll<io::Result<usize>> {
        let mut sink = Pin::new(&mut self.sink);
        let mut written = 0;
        while written < lines.len() {
            match sink.as_mut().poll_ready(cx)? {
                Poll::Ready(()) => {}
                Poll::Pending if written > 0 => break,
                Poll::Pending => return Poll::Pending,
            }
            // The connection queues whole lines, and they are taken whole.
            let rest = &lines[written..];
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            sink.as_mut()
                .start_send(Bytes::copy_from_slice(&rest[..length]))?;
            written = (written + length + 1).min(lines.len());
        }
        Poll::Ready(Ok(written))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.sink).poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_flush(cx))?;
        Pin::new(&mut self.sink).poll_close(cx)
    }
}
