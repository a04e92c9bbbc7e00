//! A model on loopback that says what it is told to say.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::Notify,
};

/// What the model answers to one request.
pub(crate) enum Reply {
    /// These chunks, and the end of the stream.
    Stream(Vec<Value>),
    /// These chunks, and then the connection ends.
    Cut(Vec<Value>),
    /// These chunks, and then nothing, until the agent hangs up.
    Hang(Vec<Value>),
    /// An error with a status and further headers.
    Error(u16, &'static str, Value),
}

/// A request as it came.
pub(crate) struct Asked {
    pub(crate) key: Option<String>,
    pub(crate) body: Value,
}

#[derive(Clone)]
pub(crate) struct Model {
    pub(crate) url: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    replies: Mutex<VecDeque<Reply>>,
    asked: Mutex<Vec<Asked>>,
    hung_up: Notify,
}

impl Model {
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let model = Self {
            url: format!("http://{}/v1", listener.local_addr().unwrap()),
            shared: Arc::default(),
        };
        model.shared.replies.lock().unwrap().extend(replies);
        let serving = model.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serving.clone().serve(stream));
            }
        });
        model
    }

    /// The requests so far.
    pub(crate) fn take_asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.shared.asked.lock().unwrap())
    }

    /// Waits until the agent hangs up on an answer that does not end.
    pub(crate) async fn hung_up(&self) {
        self.shared.hung_up.notified().await;
    }

    async fn serve(self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        let (mut length, mut key) = (0, None);
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
                return;
            }
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                // The line of the request, or the one behind the headers.
                match line.trim_end() {
                    "" => break,
                    line => assert_eq!(line, "POST /v1/chat/completions HTTP/1.1"),
                }
                continue;
            };
            match &*name.to_ascii_lowercase() {
                "content-length" => length = value.parse().unwrap(),
                "authorization" => key = value.strip_prefix("Bearer ").map(str::to_owned),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        let body = serde_json::from_slice(&body).unwrap();
        self.shared.asked.lock().unwrap().push(Asked { key, body });
        let reply = self.shared.replies.lock().unwrap().pop_front();
        self.answer(stream, reply.expect("nothing more was to be asked"))
            .await;
    }

    async fn answer(&self, mut stream: BufReader<TcpStream>, reply: Reply) {
        let mut text = String::new();
        let stream_head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
            connection: close\r\n\r\n";
        let chunks = match &reply {
            Reply::Stream(chunks) | Reply::Cut(chunks) | Reply::Hang(chunks) => {
                text.push_str(stream_head);
                &chunks[..]
            }
            Reply::Error(status, headers, body) => {
                text = format!("HTTP/1.1 {status} No\r\nconnection: close\r\n{headers}\r\n{body}");
                &[]
            }
        };
        for chunk in chunks {
            text.push_str(&format!("data: {chunk}\n\n"));
        }
        if let Reply::Stream(_) = reply {
            text.push_str("data: [DONE]\n\n");
        }
        stream.write_all(text.as_bytes()).await.unwrap();
        if let Reply::Hang(_) = reply {
            // The end of the agent's side.
            let _ = stream.read(&mut [0]).await;
            self.shared.hung_up.notify_one();
        }
    }
}

fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

pub(crate) fn text(text: &str) -> Value {
    delta(json!({ "content": text }))
}

pub(crate) fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// An answer in one piece.
pub(crate) fn says(words: &str) -> Reply {
    let usage = json!({"choices": [], "usage": {"total_tokens": 42}});
    Reply::Stream(vec![text(words), finish("stop"), usage])
}

/// The call of a tool.
pub(crate) fn calls(id: &str, name: &str, arguments: Value) -> Reply {
    let arguments = arguments.to_string();
    let function = json!({"name": name, "arguments": arguments});
    let call = json!({"index": 0, "id": id, "type": "function", "function": function});
    Reply::Stream(vec![
        delta(json!({ "tool_calls": [call] })),
        finish("tool_calls"),
    ])
}
