//! The least a client can be.

use std::borrow::Cow;
use std::env;
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use memchr::{memchr_iter, memmem, memrchr};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Floor, Out};
use crate::lines::Lines;
use crate::message::FILE;
use crate::process::raw_stdin;

/// Does what the environment says, and ends.
pub(crate) fn client(floor: Floor) -> Result<()> {
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let slow = variable("BENCH_SLOW_US").parse().unwrap_or_default();
    let mut client = Client {
        floor,
        lines: Lines::new(raw_stdin()?),
        out: Out::new()?,
        slow: Duration::from_micros(slow),
        last_id: 0,
        updates: 0,
        bytes: 0,
    };
    let files = r#"{"fs":{"readTextFile":true,"writeTextFile":true}}"#;
    let hello = format!("{{\"protocolVersion\":1,\"clientCapabilities\":{files}}}");
    client.ask("initialize", &hello)?;
    let session = client.ask("session/new", r#"{"cwd":"/tmp","mcpServers":[]}"#)?;
    let session: Session = serde_json::from_str(&session)?;
    let prompt = variable("BENCH_PROMPT");
    for _ in 0..variable("BENCH_TURNS").parse().unwrap_or(1) {
        client.prompt(&session.session_id, &prompt)?;
    }
    let done = format!("DONE {} {}", client.updates, client.bytes);
    client.prompt(&session.session_id, &done)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Session {
    session_id: String,
}

/// Every message that this client understands, in one pass.
#[derive(Deserialize)]
struct Incoming<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<Params<'a>>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(borrow)]
    session_id: Cow<'a, str>,
    #[serde(borrow)]
    update: Option<Update<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a> {
    #[serde(borrow)]
    session_update: Cow<'a, str>,
    #[serde(borrow)]
    content: Content<'a>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

/// What an application is handed: values of its own.
struct Owned {
    _session_id: String,
    text: String,
}

struct Client {
    floor: Floor,
    lines: Lines<File>,
    out: Out,
    slow: Duration,
    last_id: u64,
    updates: usize,
    bytes: usize,
}

impl Client {
    fn prompt(&mut self, session: &str, text: &str) -> Result<()> {
        let block = format!("{{\"type\":\"text\",\"text\":\"{text}\"}}");
        let params = format!("{{\"sessionId\":\"{session}\",\"prompt\":[{block}]}}");
        self.ask("session/prompt", &params).map(drop)
    }

    /// Asks for something, and does what comes until it is answered.
    fn ask(&mut self, method: &str, params: &str) -> Result<String> {
        self.last_id += 1;
        let id = self.last_id;
        writeln!(
            self.out.bytes,
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}"
        )?;
        self.out.flush()?;
        loop {
            let line = self.lines.next().context("the agent is gone")?;
            let head = &line[..line.len().min(120)];
            if self.floor == Floor::Raw && memmem::find(head, b"\"session/update\"").is_some() {
                self.updates += 1;
                self.bytes += text_length(line)?;
                self.rest();
                continue;
            }
            let message: Incoming<'_> = serde_json::from_slice(line)?;
            match (message.method.as_deref(), message.id) {
                (Some("session/update"), None) => {
                    let owned = owned(message.params.context("no params")?)?;
                    self.updates += 1;
                    self.bytes += black_box(owned).text.len();
                    self.rest();
                }
                (Some("fs/read_text_file"), Some(id)) => {
                    let id = id.get();
                    writeln!(
                        self.out.bytes,
                        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":\"{FILE}\"}}}}"
                    )?;
                    self.out.flush()?;
                }
                (None, Some(answered)) if answered.get() == id.to_string() => {
                    return Ok(message.result.context("an error")?.get().to_owned());
                }
                _ => bail!("an unexpected message"),
            }
        }
    }

    fn rest(&self) {
        if !self.slow.is_zero() {
            std::thread::sleep(self.slow);
        }
    }
}

fn owned(params: Params<'_>) -> Result<Box<Owned>> {
    let update = params.update.context("no update")?;
    if update.session_update != "agent_message_chunk" || update.content.kind != "text" {
        bail!("another update");
    }
    Ok(Box::new(Owned {
        _session_id: params.session_id.into_owned(),
        text: update.content.text.into_owned(),
    }))
}

/// The length of the text of an update, counted where it stands: every escape is of one
/// character here.
fn text_length(line: &[u8]) -> Result<usize> {
    let begin = memmem::find(line, b"\"text\":\"").context("no text")? + 8;
    let text = &line[begin..];
    let end = memmem::find(text, b"\",\"type\"").or_else(|| memrchr(b'"', text));
    let text = &text[..end.context("no end")?];
    Ok(text.len() - memchr_iter(b'\\', text).count())
}
