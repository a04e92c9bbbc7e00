//! The least an agent can be.

use std::borrow::Cow;
use std::io::{Read, Write};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::{Floor, Out};
use crate::lines::Lines;
use crate::message::Envelope;
use crate::process::raw_stdin;
use crate::workload::text;

/// Serves until stdin ends.
pub(crate) fn agent(floor: Floor) -> Result<()> {
    let mut lines = Lines::new(raw_stdin()?);
    let mut out = Out::new()?;
    let mut sessions = 0;
    loop {
        if !lines.has_line() {
            out.flush()?;
        }
        let Some(line) = lines.next() else {
            return Ok(());
        };
        let request: Envelope<'_> = serde_json::from_slice(line)?;
        let (Some(id), Some(method)) = (request.id, request.method) else {
            continue;
        };
        let id = id.get().to_owned();
        let result = match &*method {
            "initialize" => r#"{"protocolVersion":1,"agentCapabilities":{}}"#.to_owned(),
            "session/new" => {
                sessions += 1;
                format!("{{\"sessionId\":\"session-{sessions:08}\"}}")
            }
            _ => {
                let params = request.params.context("no params")?;
                let prompt: Prompt<'_> = serde_json::from_str(params.get())?;
                let session = prompt.session_id.into_owned();
                let first = prompt.prompt.first().context("an empty prompt")?;
                let asked = first.text.clone().into_owned();
                turn(floor, &session, &asked, &mut out, &mut lines)?;
                r#"{"stopReason":"end_turn"}"#.to_owned()
            }
        };
        writeln!(
            out.bytes,
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"
        )?;
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Prompt<'a> {
    #[serde(borrow)]
    session_id: Cow<'a, str>,
    #[serde(borrow)]
    prompt: Vec<Block<'a>>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Serialize)]
struct Notification {
    jsonrpc: &'static str,
    method: &'static str,
    params: Params,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    session_id: String,
    update: Update,
}

#[derive(Serialize)]
#[serde(tag = "sessionUpdate", rename_all = "snake_case")]
enum Update {
    AgentMessageChunk { content: Content },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content {
    Text { text: String },
}

fn put_update(out: &mut Out, session: &str, text: &str) -> Result<()> {
    let content = Content::Text {
        text: text.to_owned(),
    };
    let notification = Notification {
        jsonrpc: "2.0",
        method: "session/update",
        params: Params {
            session_id: session.to_owned(),
            update: Update::AgentMessageChunk { content },
        },
    };
    serde_json::to_writer(&mut out.bytes, &notification)?;
    out.bytes.push(b'\n');
    Ok(())
}

fn turn<R: Read>(
    floor: Floor,
    session: &str,
    asked: &str,
    out: &mut Out,
    lines: &mut Lines<R>,
) -> Result<()> {
    let mut words = asked.split(' ');
    let workload = words.next().unwrap_or_default();
    let mut number =
        || -> Result<usize> { Ok(words.next().context("a number is missing")?.parse()?) };
    match workload {
        "PING" => put_update(out, session, "pong")?,
        "STREAM" | "BIG" => {
            let (number, length) = (number()?, number()?);
            let text = text(length);
            match floor {
                Floor::Serde => {
                    for _ in 0..number {
                        put_update(out, session, &text)?;
                        out.flush_if_full()?;
                    }
                }
                Floor::Raw => {
                    out.flush()?;
                    put_update(out, session, &text)?;
                    let update = std::mem::take(&mut out.bytes);
                    for _ in 0..number {
                        out.bytes.extend_from_slice(&update);
                        out.flush_if_full()?;
                    }
                }
            }
        }
        "CALLBACK" => {
            for id in 0..number()? {
                writeln!(
                    out.bytes,
                    "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"fs/read_text_file\",\"params\":{{\"sessionId\":\"{session}\",\"path\":\"/bench/file.txt\"}}}}"
                )?;
                out.flush()?;
                let line = lines.next().context("the client is gone")?;
                let answer: Envelope<'_> = serde_json::from_slice(line)?;
                let given = answer.id.map(|given| given.get().to_owned());
                ensure!(given == Some(id.to_string()), "a wrong answer");
            }
        }
        _ => {}
    }
    Ok(())
}
