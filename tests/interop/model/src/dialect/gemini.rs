//! Gemini's contents.

use serde_json::{Value, json};

use super::{Dialect, Frame, TOKENS_IN, TOKENS_OUT, string, text_of};
use crate::script::{End, Reply, Request, Tool};

pub(super) struct Gemini;

impl Dialect for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn read(&self, body: &Value) -> Request {
        let mut request = Request::default();
        for content in body["contents"].as_array().into_iter().flatten() {
            let parts = content["parts"].as_array().into_iter().flatten();
            let said = parts
                .filter_map(|part| part.get("functionResponse"))
                .next_back();
            if content["role"] == "model" {
                continue;
            } else if let Some(said) = said {
                request.tool_said = Some(said["response"].to_string());
            } else {
                request.prompt = text_of(&content["parts"]);
                request.tool_said = None;
            }
        }
        for tools in body["tools"].as_array().into_iter().flatten() {
            let declared = tools["functionDeclarations"].as_array();
            for tool in declared.into_iter().flatten() {
                let schema = tool.get("parametersJsonSchema");
                request.tools.push(Tool {
                    name: string(&tool["name"]),
                    parameters: schema.unwrap_or(&tool["parameters"]).clone(),
                });
            }
        }
        let settings = &body["generationConfig"];
        if settings["responseMimeType"] == "application/json" {
            let schema = settings.get("responseJsonSchema");
            request.wanted = Some(schema.unwrap_or(&settings["responseSchema"]).clone());
        }
        request
    }

    fn stream(&self, model: &str, reply: &Reply) -> Vec<Frame> {
        let frame = |part: Value| Frame::unnamed(&chunk(model, json!([part]), None));
        let mut frames = Vec::new();
        for thought in &reply.thoughts {
            frames.push(frame(json!({"text": thought, "thought": true})));
        }
        for piece in &reply.text {
            frames.push(frame(json!({"text": piece})).after(reply.pause));
        }
        frames.extend(function_call(reply).map(frame));
        let last = chunk(model, json!([{"text": ""}]), Some(finish_reason(reply)));
        frames.push(Frame::unnamed(&last));
        frames
    }

    fn whole(&self, model: &str, reply: &Reply) -> Value {
        let mut parts = vec![json!({"text": reply.text.concat()})];
        parts.extend(function_call(reply));
        chunk(model, json!(parts), Some(finish_reason(reply)))
    }
}

fn function_call(reply: &Reply) -> Option<Value> {
    let call = reply.call.as_ref()?;
    Some(json!({"functionCall": {"name": call.tool, "args": call.arguments}}))
}

fn chunk(model: &str, parts: Value, finish_reason: Option<&str>) -> Value {
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
    if let Some(reason) = finish_reason {
        candidate["finishReason"] = json!(reason);
    }
    json!({
        "modelVersion": model,
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": TOKENS_IN,
            "candidatesTokenCount": TOKENS_OUT,
            "totalTokenCount": TOKENS_IN + TOKENS_OUT,
        },
    })
}

fn finish_reason(reply: &Reply) -> &'static str {
    match reply.end {
        End::Complete => "STOP",
        End::Limit => "MAX_TOKENS",
        End::Filter => "SAFETY",
    }
}
