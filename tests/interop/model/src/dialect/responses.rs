//! OpenAI's responses: a list of output items, each opened, filled and closed by events.

use serde_json::{Value, json};

use super::{Dialect, Frame, TOKENS_IN, TOKENS_OUT, fresh_id, string, text_of};
use crate::script::{Call, End, Reply, Request, Tool};

pub(super) struct Responses;

impl Dialect for Responses {
    fn name(&self) -> &'static str {
        "responses"
    }

    fn read(&self, body: &Value) -> Request {
        let mut request = Request {
            model: string(&body["model"]),
            ..Request::default()
        };
        if let Value::String(prompt) = &body["input"] {
            request.prompt.clone_from(prompt);
        }
        for item in body["input"].as_array().into_iter().flatten() {
            if item["role"] == "user" {
                request.prompt = text_of(&item["content"]);
                request.tool_said = None;
            } else if item["type"] == "function_call_output" {
                request.tool_said = Some(text_of(&item["output"]));
            }
        }
        for tool in body["tools"].as_array().into_iter().flatten() {
            request.tools.push(Tool {
                name: string(&tool["name"]),
                parameters: tool["parameters"].clone(),
            });
        }
        request.wanted = body.pointer("/text/format/schema").cloned();
        request
    }

    fn stream(&self, model: &str, reply: &Reply) -> Vec<Frame> {
        let mut events = Events::default();
        let mut response = response(model);
        events.add("response.created", json!({"response": response}));
        let mut output = Vec::new();
        if !reply.thoughts.is_empty() {
            output.push(events.thoughts(output.len(), reply));
        }
        output.push(events.message(output.len(), reply));
        if let Some(call) = &reply.call {
            output.push(events.call(output.len(), call));
        }
        let ended = finish(&mut response, output, reply);
        events.add(ended, json!({"response": response}));
        events.frames
    }

    fn whole(&self, model: &str, reply: &Reply) -> Value {
        let mut output = vec![message(&fresh_id("msg"), &reply.text.concat())];
        output.extend(reply.call.as_ref().map(function_call));
        let mut response = response(model);
        finish(&mut response, output, reply);
        response
    }
}

/// The events of a stream, numbered in order.
#[derive(Default)]
struct Events {
    frames: Vec<Frame>,
}

impl Events {
    fn add(&mut self, kind: &str, fields: Value) -> &mut Frame {
        let mut data = json!({"type": kind, "sequence_number": self.frames.len()});
        for (name, value) in fields.as_object().into_iter().flatten() {
            data[name] = value.clone();
        }
        let event = Some(kind.to_owned());
        self.frames.push(Frame {
            event,
            ..Frame::unnamed(&data)
        });
        self.frames.last_mut().expect("one was just added")
    }

    fn thoughts(&mut self, index: usize, reply: &Reply) -> Value {
        let id = fresh_id("rs");
        let mut item = json!({"type": "reasoning", "id": id, "summary": []});
        self.open(index, &item);
        let place = |kind: &str, value: Value| json!({"item_id": id, "output_index": index, "summary_index": 0, kind: value});
        let part = |text: &str| json!({"type": "summary_text", "text": text});
        self.add(
            "response.reasoning_summary_part.added",
            place("part", part("")),
        );
        for thought in &reply.thoughts {
            let fields = place("delta", json!(thought));
            self.add("response.reasoning_summary_text.delta", fields);
        }
        let text = reply.thoughts.concat();
        self.add(
            "response.reasoning_summary_text.done",
            place("text", json!(text)),
        );
        self.add(
            "response.reasoning_summary_part.done",
            place("part", part(&text)),
        );
        item["summary"] = json!([part(&text)]);
        self.close(index, &item);
        item
    }

    fn message(&mut self, index: usize, reply: &Reply) -> Value {
        let id = fresh_id("msg");
        let mut opening = message(&id, "");
        let part = opening["content"][0].take();
        opening["content"] = json!([]);
        opening["status"] = json!("in_progress");
        self.open(index, &opening);
        let place = |kind: &str, value: Value| json!({"item_id": id, "output_index": index, "content_index": 0, kind: value});
        self.add("response.content_part.added", place("part", part));
        for piece in &reply.text {
            let fields = place("delta", json!(piece));
            self.add("response.output_text.delta", fields).pause = reply.pause;
        }
        let text = reply.text.concat();
        let item = message(&id, &text);
        self.add("response.output_text.done", place("text", json!(text)));
        let part = item["content"][0].clone();
        self.add("response.content_part.done", place("part", part));
        self.close(index, &item);
        item
    }

    fn call(&mut self, index: usize, call: &Call) -> Value {
        let item = function_call(call);
        let mut opening = item.clone();
        opening["arguments"] = json!("");
        opening["status"] = json!("in_progress");
        self.open(index, &opening);
        let place = |kind: &str| json!({"item_id": item["id"], "output_index": index, kind: item["arguments"]});
        self.add("response.function_call_arguments.delta", place("delta"));
        self.add("response.function_call_arguments.done", place("arguments"));
        self.close(index, &item);
        item
    }

    fn open(&mut self, index: usize, item: &Value) {
        let fields = json!({"output_index": index, "item": item});
        self.add("response.output_item.added", fields);
    }

    fn close(&mut self, index: usize, item: &Value) {
        let fields = json!({"output_index": index, "item": item});
        self.add("response.output_item.done", fields);
    }
}

fn response(model: &str) -> Value {
    json!({
        "id": fresh_id("resp"),
        "object": "response",
        "created_at": 0,
        "model": model,
        "status": "in_progress",
        "output": [],
        "error": null,
        "incomplete_details": null,
    })
}

/// Completes a response and names the event that says so.
fn finish(response: &mut Value, output: Vec<Value>, reply: &Reply) -> &'static str {
    response["output"] = json!(output);
    response["usage"] = json!({
        "input_tokens": TOKENS_IN,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": TOKENS_OUT,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": TOKENS_IN + TOKENS_OUT,
    });
    let reason = match reply.end {
        End::Complete => {
            response["status"] = json!("completed");
            return "response.completed";
        }
        End::Limit => "max_output_tokens",
        End::Filter => "content_filter",
    };
    response["status"] = json!("incomplete");
    response["incomplete_details"] = json!({ "reason": reason });
    "response.incomplete"
}

fn message(id: &str, text: &str) -> Value {
    json!({
        "type": "message",
        "id": id,
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    })
}

fn function_call(call: &Call) -> Value {
    json!({
        "type": "function_call",
        "id": fresh_id("fc"),
        "call_id": fresh_id("call"),
        "name": call.tool,
        "arguments": call.arguments.to_string(),
        "status": "completed",
    })
}
