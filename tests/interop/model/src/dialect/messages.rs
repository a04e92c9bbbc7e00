//! Anthropic's messages: a list of content blocks, each opened, filled and closed by events.

use serde_json::{Value, json};

use super::{Dialect, Frame, TOKENS_IN, TOKENS_OUT, fresh_id, string, text_of};
use crate::script::{Call, End, Reply, Request, Tool};

pub(super) struct Messages;

impl Dialect for Messages {
    fn name(&self) -> &'static str {
        "messages"
    }

    fn read(&self, body: &Value) -> Request {
        let mut request = Request {
            model: string(&body["model"]),
            ..Request::default()
        };
        for message in body["messages"].as_array().into_iter().flatten() {
            if message["role"] != "user" {
                continue;
            }
            // What tools said comes in the name of the user, and what the user says next may
            // stand behind it in the same message.
            match (words(&message["content"]), results(&message["content"])) {
                (Some(words), _) => {
                    request.prompt = words;
                    request.tool_said = None;
                }
                (None, Some(said)) => request.tool_said = Some(said),
                (None, None) => {}
            }
        }
        for tool in body["tools"].as_array().into_iter().flatten() {
            request.tools.push(Tool {
                name: string(&tool["name"]),
                parameters: tool["input_schema"].clone(),
            });
        }
        request.wanted = body.pointer("/output_config/format/schema").cloned();
        request
    }

    fn stream(&self, model: &str, reply: &Reply) -> Vec<Frame> {
        let mut events = Events::default();
        let mut message = message(model);
        message["usage"] = usage();
        events.add("message_start", json!({"message": message}));
        if !reply.thoughts.is_empty() {
            events.open(json!({"type": "thinking", "thinking": "", "signature": ""}));
            for thought in &reply.thoughts {
                events.fill(json!({"type": "thinking_delta", "thinking": thought}));
            }
            events.fill(json!({"type": "signature_delta", "signature": "bW9jaw=="}));
            events.close();
        }
        events.open(json!({"type": "text", "text": ""}));
        for piece in &reply.text {
            let frame = events.fill(json!({"type": "text_delta", "text": piece}));
            frame.pause = reply.pause;
        }
        events.close();
        if let Some(call) = &reply.call {
            events.open(tool_use(call, json!({})));
            let arguments = call.arguments.to_string();
            events.fill(json!({"type": "input_json_delta", "partial_json": arguments}));
            events.close();
        }
        let delta = json!({"stop_reason": stop_reason(reply), "stop_sequence": null});
        events.add("message_delta", json!({"delta": delta, "usage": usage()}));
        events.add("message_stop", json!({}));
        events.frames
    }

    fn whole(&self, model: &str, reply: &Reply) -> Value {
        let mut message = message(model);
        let mut content = vec![json!({"type": "text", "text": reply.text.concat()})];
        if let Some(call) = &reply.call {
            content.push(tool_use(call, call.arguments.clone()));
        }
        message["content"] = json!(content);
        message["stop_reason"] = json!(stop_reason(reply));
        message["usage"] = usage();
        message
    }
}

/// The events of a stream, and how many blocks it has.
#[derive(Default)]
struct Events {
    frames: Vec<Frame>,
    blocks: usize,
}

impl Events {
    fn add(&mut self, kind: &str, fields: Value) -> &mut Frame {
        let mut data = json!({ "type": kind });
        for (name, value) in fields.as_object().into_iter().flatten() {
            data[name] = value.clone();
        }
        self.frames.push(Frame {
            event: Some(kind.to_owned()),
            ..Frame::unnamed(&data)
        });
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn open(&mut self, block: Value) {
        let fields = json!({"index": self.blocks, "content_block": block});
        self.add("content_block_start", fields);
    }

    fn fill(&mut self, delta: Value) -> &mut Frame {
        let fields = json!({"index": self.blocks, "delta": delta});
        self.add("content_block_delta", fields)
    }

    fn close(&mut self) {
        self.add("content_block_stop", json!({"index": self.blocks}));
        self.blocks += 1;
    }
}

/// Finds the last words of the user in a message; agents add reminders and notes of their own.
fn words(content: &Value) -> Option<String> {
    let blocks = match content {
        Value::Array(blocks) => blocks.as_slice(),
        text => std::slice::from_ref(text),
    };
    let texts = blocks.iter().filter(|block| block["type"] != "tool_result");
    let texts = texts.map(text_of);
    let mut words = texts.filter(|text| !text.is_empty() && !text.starts_with(['<', '[']));
    words.next_back()
}

/// Collects what tools said in a message; `None` when no tool said anything.
fn results(content: &Value) -> Option<String> {
    let blocks = content.as_array().into_iter().flatten();
    let results = blocks.filter(|block| block["type"] == "tool_result");
    let texts: Vec<String> = results.map(|block| text_of(&block["content"])).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn message(model: &str) -> Value {
    json!({
        "id": fresh_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
    })
}

fn tool_use(call: &Call, input: Value) -> Value {
    json!({"type": "tool_use", "id": fresh_id("toolu"), "name": call.tool, "input": input})
}

fn stop_reason(reply: &Reply) -> &'static str {
    match reply.end {
        End::Complete if reply.call.is_some() => "tool_use",
        End::Complete => "end_turn",
        End::Limit => "max_tokens",
        End::Filter => "refusal",
    }
}

fn usage() -> Value {
    json!({"input_tokens": TOKENS_IN, "output_tokens": TOKENS_OUT})
}
