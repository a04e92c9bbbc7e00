//! OpenAI's chat completions.

use serde_json::{Value, json};

use super::{Dialect, Frame, TOKENS_IN, TOKENS_OUT, fresh_id, string, text_of};
use crate::script::{Call, End, Reply, Request, Tool};

pub(super) struct Chat;

impl Dialect for Chat {
    fn name(&self) -> &'static str {
        "chat"
    }

    fn read(&self, body: &Value) -> Request {
        let mut request = Request {
            model: string(&body["model"]),
            ..Request::default()
        };
        for message in body["messages"].as_array().into_iter().flatten() {
            let text = text_of(&message["content"]);
            if message["role"] == "user" {
                request.prompt = text;
                request.tool_said = None;
            } else if message["role"] == "tool" {
                request.tool_said = Some(text);
            }
        }
        for tool in body["tools"].as_array().into_iter().flatten() {
            request.tools.push(Tool {
                name: string(&tool["function"]["name"]),
                parameters: tool["function"]["parameters"].clone(),
            });
        }
        let format = &body["response_format"];
        request.wanted = format.pointer("/json_schema/schema").cloned();
        request
    }

    fn stream(&self, model: &str, reply: &Reply) -> Vec<Frame> {
        let id = fresh_id("chatcmpl");
        let chunk = |choices: Value| {
            json!({
                "id": id,
                "object": "chat.completion.chunk",
                "created": 0,
                "model": model,
                "choices": choices,
            })
        };
        let delta = |delta: Value| {
            let choice = json!([{"index": 0, "delta": delta, "finish_reason": null}]);
            Frame::unnamed(&chunk(choice))
        };
        let mut frames = vec![delta(json!({"role": "assistant", "content": ""}))];
        for thought in &reply.thoughts {
            frames.push(delta(json!({"reasoning_content": thought})));
        }
        for piece in &reply.text {
            frames.push(delta(json!({"content": piece})).after(reply.pause));
        }
        if let Some(call) = &reply.call {
            let mut opening = tool_call(call);
            opening["index"] = json!(0);
            opening["function"]["arguments"] = json!("");
            frames.push(delta(json!({"tool_calls": [opening]})));
            let arguments = json!({"arguments": call.arguments.to_string()});
            frames.push(delta(
                json!({"tool_calls": [{"index": 0, "function": arguments}]}),
            ));
        }
        let end = json!([{"index": 0, "delta": {}, "finish_reason": finish_reason(reply)}]);
        frames.push(Frame::unnamed(&chunk(end)));
        let mut last = chunk(json!([]));
        last["usage"] = usage();
        frames.push(Frame::unnamed(&last));
        frames.push(Frame::text("[DONE]".to_owned()));
        frames
    }

    fn whole(&self, model: &str, reply: &Reply) -> Value {
        let mut message = json!({"role": "assistant", "content": reply.text.concat()});
        if let Some(call) = &reply.call {
            message["tool_calls"] = json!([tool_call(call)]);
        }
        json!({
            "id": fresh_id("chatcmpl"),
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": finish_reason(reply)}],
            "usage": usage(),
        })
    }
}

fn tool_call(call: &Call) -> Value {
    let function = json!({"name": call.tool, "arguments": call.arguments.to_string()});
    json!({"id": fresh_id("call"), "type": "function", "function": function})
}

fn finish_reason(reply: &Reply) -> &'static str {
    match reply.end {
        End::Complete if reply.call.is_some() => "tool_calls",
        End::Complete => "stop",
        End::Limit => "length",
        End::Filter => "content_filter",
    }
}

fn usage() -> Value {
    json!({
        "prompt_tokens": TOKENS_IN,
        "completion_tokens": TOKENS_OUT,
        "total_tokens": TOKENS_IN + TOKENS_OUT,
    })
}
