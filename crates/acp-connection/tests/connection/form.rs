//! The two forms of a connection, over an in-memory pipe.

use acp_connection::{Handler, Peer, connect, connect_messages};
use acp_protocol::rpc::{ConnectionRole, Limits};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split},
    sync::mpsc,
};
use tokio_util::codec::{FramedRead, FramedWrite, LengthDelimitedCodec};

use crate::methods::Serves;

/// What a connection runs over.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// Bytes, one message a line.
    Bytes,
    /// Messages, each behind its length.
    Messages,
}

/// Both ends of a connection, and what their handlers saw.
pub(crate) struct Ends {
    pub(crate) client: Peer,
    pub(crate) agent: Peer,
    pub(crate) seen: mpsc::UnboundedReceiver<String>,
}

/// One end without a connection on it.
pub(crate) struct Raw {
    form: Form,
    stream: BufReader<DuplexStream>,
}

impl Form {
    pub(crate) fn connect(
        self,
        role: ConnectionRole,
        stream: DuplexStream,
        handler: impl Handler,
        limits: Limits,
    ) -> Peer {
        let (reader, writer) = split(stream);
        match self {
            Self::Bytes => connect(role, reader, writer, handler, limits),
            Self::Messages => connect_messages(
                role,
                FramedRead::new(reader, LengthDelimitedCodec::new()),
                FramedWrite::new(writer, LengthDelimitedCodec::new()),
                handler,
                limits,
            ),
        }
    }

    pub(crate) fn ends(self, capacity: usize) -> Ends {
        let (client, agent) = duplex(capacity);
        let (sender, seen) = mpsc::unbounded_channel();
        let serves = || Serves {
            seen: sender.clone(),
        };
        Ends {
            client: self.connect(ConnectionRole::Client, client, serves(), Limits::default()),
            agent: self.connect(ConnectionRole::Agent, agent, serves(), Limits::default()),
            seen,
        }
    }

    /// One end, and the raw other one.
    pub(crate) fn raw(
        self,
        role: ConnectionRole,
        capacity: usize,
        handler: impl Handler,
        limits: Limits,
    ) -> (Raw, Peer) {
        let (raw, ours) = duplex(capacity);
        let raw = Raw {
            form: self,
            stream: BufReader::new(raw),
        };
        (raw, self.connect(role, ours, handler, limits))
    }

    /// The agent alone, and the raw end of its pipe.
    pub(crate) fn raw_agent(self) -> (Raw, Peer) {
        let (seen, _) = mpsc::unbounded_channel();
        self.raw(
            ConnectionRole::Agent,
            64 << 10,
            Serves { seen },
            Limits::default(),
        )
    }
}

impl Raw {
    pub(crate) async fn send(&mut self, message: &str) {
        let stream = self.stream.get_mut();
        if matches!(self.form, Form::Messages) {
            let length = u32::try_from(message.len()).unwrap();
            stream.write_u32(length).await.unwrap();
        }
        stream.write_all(message.as_bytes()).await.unwrap();
        if matches!(self.form, Form::Bytes) {
            stream.write_all(b"\n").await.unwrap();
        }
    }

    pub(crate) async fn message(&mut self) -> String {
        match self.form {
            Form::Bytes => {
                let mut line = String::new();
                self.stream.read_line(&mut line).await.unwrap();
                line.trim_end().to_owned()
            }
            Form::Messages => {
                let length = self.stream.read_u32().await.unwrap();
                let mut message = vec![0; length as usize];
                self.stream.read_exact(&mut message).await.unwrap();
                String::from_utf8(message).unwrap()
            }
        }
    }

    /// Writes bytes as they are, whatever the form.
    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).await.unwrap();
    }

    pub(crate) async fn shutdown(&mut self) {
        self.stream.get_mut().shutdown().await.unwrap();
    }
}
