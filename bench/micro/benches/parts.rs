//! The parts of the hot paths, each alone: lines out of bytes, envelopes out of lines,
//! values out of envelopes, and back.

use std::hint::black_box;

use acp_protocol::rpc::{ConnectionRole, Intake, Limits, LineDecoder, frame};
use acp_protocol::v1::{
    ContentBlock, ContentChunk, InitializeResponse, PromptResponse, ReadTextFileRequest,
    SessionNotification, SessionUpdate,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde::Serialize;
use serde::de::DeserializeOwned;

const CHUNK: &str = r#"{"sessionId":"sess_abc123def456","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"The quick brown fox jumps over the lazy"},"messageId":"msg_1"}}"#;
const TOOL_CALL: &str = r#"{"sessionId":"sess_abc123def456","update":{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"Edit src/main.rs","kind":"edit","status":"pending","locations":[{"path":"/home/ada/project/src/main.rs","line":12}],"content":[{"type":"diff","path":"/home/ada/project/src/main.rs","oldText":"a\nb\n","newText":"a\nc\n"}],"rawInput":{"path":"src/main.rs","edits":[{"old":"b","new":"c"}]}}}"#;
const PLAN: &str = r#"{"sessionId":"sess_abc123def456","update":{"sessionUpdate":"plan","entries":[{"content":"Read","priority":"high","status":"completed"},{"content":"Write","priority":"high","status":"in_progress"},{"content":"Test","priority":"medium","status":"pending"}]}}"#;
const INITIALIZE: &str = r#"{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true,"audio":false,"embeddedContext":true},"mcpCapabilities":{"http":true,"sse":false},"sessionCapabilities":{"list":{},"resume":{},"close":{}}},"agentInfo":{"name":"agent","title":"An agent","version":"1.2.3"},"authMethods":[{"id":"login","name":"Log in"}]}"#;
const END: &str = r#"{"stopReason":"end_turn"}"#;
const READ: &str = r#"{"sessionId":"sess_abc123def456","path":"/home/ada/project/src/main.rs","line":1,"limit":200}"#;

fn lines(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lines");
    for length in [64, 4 << 10, 256 << 10, 8 << 20] {
        let mut line = vec![b'x'; length - 1];
        line.push(b'\n');
        group.throughput(Throughput::Bytes(length as u64));
        group.bench_function(length.to_string(), |bench| {
            let mut decoder = LineDecoder::new(&Limits::default());
            bench.iter(|| {
                for piece in line.chunks(64 << 10) {
                    decoder.push(piece);
                }
                black_box(decoder.next_block())
            });
        });
    }
}

fn envelopes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("envelopes");
    let messages = [
        (
            "update",
            ConnectionRole::Client,
            format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{CHUNK}}}"#),
        ),
        (
            "request",
            ConnectionRole::Client,
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{READ}}}"#),
        ),
        (
            "answer",
            ConnectionRole::Client,
            format!(r#"{{"jsonrpc":"2.0","id":7,"result":{END}}}"#),
        ),
    ];
    for (name, role, message) in messages {
        let line = format!("{message}\n");
        group.throughput(Throughput::Bytes(line.len() as u64));
        group.bench_function(name, |bench| {
            let mut intake = Intake::new(role, &Limits::default());
            bench.iter(|| {
                intake.push(line.as_bytes());
                black_box(intake.next())
            });
        });
    }
}

fn values(criterion: &mut Criterion) {
    both::<SessionNotification>(criterion, "piece of a message", CHUNK);
    both::<SessionNotification>(criterion, "tool call", TOOL_CALL);
    both::<SessionNotification>(criterion, "plan", PLAN);
    both::<InitializeResponse>(criterion, "answer to initialize", INITIALIZE);
    both::<PromptResponse>(criterion, "answer to a prompt", END);
    both::<ReadTextFileRequest>(criterion, "reading a file", READ);
}

/// Reads it and writes it.
fn both<T: DeserializeOwned + Serialize>(criterion: &mut Criterion, name: &str, json: &str) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Bytes(json.len() as u64));
    group.bench_function("decode", |bench| {
        bench.iter(|| serde_json::from_str::<T>(black_box(json)));
    });
    let value: T = serde_json::from_str(json).expect("it is one");
    let mut buffer = Vec::new();
    group.bench_function("encode", |bench| {
        bench.iter(|| {
            buffer.clear();
            serde_json::to_writer(&mut buffer, black_box(&value))
        });
    });
}

fn large(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("update of 1 MiB");
    let text = "The quick brown fox jumps over the lazy dog.\n".repeat((1 << 20) / 45);
    group.throughput(Throughput::Bytes(text.len() as u64));
    let chunk = ContentChunk::new(ContentBlock::text(text));
    let update =
        SessionNotification::new("sess_abc123def456", SessionUpdate::AgentMessageChunk(chunk));
    let mut buffer = Vec::new();
    group.bench_function("encode", |bench| {
        bench.iter(|| {
            buffer.clear();
            frame::notification(&mut buffer, "session/update", black_box(&update))
        });
    });
    let json = serde_json::to_string(&update).expect("it is written");
    group.bench_function("decode", |bench| {
        bench.iter(|| serde_json::from_str::<SessionNotification>(black_box(&json)));
    });
}

criterion_group!(parts, lines, envelopes, values, large);
criterion_main!(parts);
