//! Where the dialects are found, and how an answer is sent.

use std::convert::Infallible;

use axum::Router;
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use futures_util::stream;
use serde_json::{Value, json};

use crate::dialect::{CHAT, Dialect, Frame, GEMINI, MESSAGES, RESPONSES};
use crate::journal::Entry;
use crate::script::{self, Failure, Request};

/// Makes the routes of the model.
pub(crate) fn router() -> Router {
    Router::new()
        .route("/v1/models", get(models))
        .route("/v1/chat/completions", post(|body| plain(CHAT, body)))
        .route("/v1/responses", post(|body| plain(RESPONSES, body)))
        .route("/v1/messages", post(|body| plain(MESSAGES, body)))
        .route("/v1/messages/count_tokens", post(count_tokens))
        .route("/v1beta/models/{call}", post(gemini))
}

async fn models() -> Json<Value> {
    let model = json!({"id": "mock-model", "object": "model", "created": 0, "owned_by": "mock"});
    Json(json!({"object": "list", "data": [model]}))
}

async fn count_tokens() -> Json<Value> {
    Json(json!({"input_tokens": 100}))
}

/// Serves a dialect that says in its body whether the answer is to be streamed.
async fn plain(dialect: &'static dyn Dialect, body: Bytes) -> Response {
    let Ok(body) = serde_json::from_slice::<Value>(&body) else {
        return failure(StatusCode::BAD_REQUEST, "the body is no JSON");
    };
    let streams = body["stream"] == true;
    answer(dialect, dialect.read(&body), streams).await
}

/// Serves `MODEL:METHOD`.
async fn gemini(Path(call): Path<String>, body: Bytes) -> Response {
    let Ok(body) = serde_json::from_slice::<Value>(&body) else {
        return failure(StatusCode::BAD_REQUEST, "the body is no JSON");
    };
    let (model, method) = call.split_once(':').unwrap_or((&call, ""));
    let model = model.to_owned();
    let request = Request {
        model,
        ..GEMINI.read(&body)
    };
    match method {
        "streamGenerateContent" => answer(GEMINI, request, true).await,
        "generateContent" => answer(GEMINI, request, false).await,
        "countTokens" => Json(json!({"totalTokens": 100})).into_response(),
        _ => failure(StatusCode::NOT_FOUND, "no such method"),
    }
}

async fn answer(dialect: &'static dyn Dialect, request: Request, streams: bool) -> Response {
    let (script, reply) = script::answer(&request);
    let entry = Entry::open(dialect.name(), script);
    let reply = match reply {
        Ok(reply) => reply,
        Err(Failure) => {
            entry.close();
            return failure(StatusCode::BAD_REQUEST, "the prompt asked for a failure");
        }
    };
    if streams {
        return send(dialect.stream(&request.model, &reply), entry);
    }
    tokio::time::sleep(reply.pause * u32::try_from(reply.text.len()).unwrap_or(u32::MAX)).await;
    entry.close();
    Json(dialect.whole(&request.model, &reply)).into_response()
}

/// Sends frames as they fall due; the entry closes behind the last.
fn send(frames: Vec<Frame>, entry: Entry) -> Response {
    let state = (frames.into_iter(), entry);
    let events = stream::unfold(state, |(mut frames, entry)| async {
        let Some(frame) = frames.next() else {
            entry.close();
            return None;
        };
        if !frame.pause.is_zero() {
            tokio::time::sleep(frame.pause).await;
        }
        let mut event = Event::default().data(frame.data);
        if let Some(name) = frame.event {
            event = event.event(name);
        }
        Some((Ok::<_, Infallible>(event), (frames, entry)))
    });
    Sse::new(events).into_response()
}

/// Writes an error the way each dialect does: an object with a message in it.
fn failure(status: StatusCode, message: &str) -> Response {
    let error = json!({
        "message": message,
        "type": "invalid_request_error",
        "code": status.as_u16(),
        "status": "INVALID_ARGUMENT",
    });
    (status, Json(json!({"type": "error", "error": error}))).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request as HttpRequest;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;

    const CHAT_PATH: &str = "/v1/chat/completions";
    const RESPONSES_PATH: &str = "/v1/responses";
    const MESSAGES_PATH: &str = "/v1/messages";
    const GEMINI_PATH: &str = "/v1beta/models/m:streamGenerateContent";

    async fn ask(path: &str, body: Value) -> (StatusCode, String) {
        let request = HttpRequest::post(path).body(Body::from(body.to_string()));
        let request = request.expect("the request is well formed");
        let response = router().oneshot(request).await.expect("the router answers");
        let status = response.status();
        let body = response.into_body().collect().await.expect("the body ends");
        let body = String::from_utf8(body.to_bytes().to_vec()).expect("the body is text");
        (status, body)
    }

    /// Asks for a stream and returns the JSON of its frames.
    async fn frames(path: &str, body: Value) -> Vec<Value> {
        let (status, body) = ask(path, body).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
        let data = data.filter(|data| *data != "[DONE]");
        data.map(|data| serde_json::from_str(data).expect("each frame is JSON"))
            .collect()
    }

    fn all(frames: &[Value], pointer: &str) -> Vec<Value> {
        let found = frames.iter().filter_map(|frame| frame.pointer(pointer));
        found.filter(|value| !value.is_null()).cloned().collect()
    }

    fn schema() -> Value {
        json!({"properties": {"command": {"type": "string"}}, "required": ["command"]})
    }

    fn chat(messages: Value) -> Value {
        let function = json!({"name": "bash", "parameters": schema()});
        let tools = json!([{"type": "function", "function": function}]);
        json!({"model": "m", "stream": true, "messages": messages, "tools": tools})
    }

    fn responses(input: Value) -> Value {
        let tools = json!([{"type": "function", "name": "shell", "parameters": schema()}]);
        json!({"model": "m", "stream": true, "input": input, "tools": tools})
    }

    fn contents(contents: Value) -> Value {
        let tool = json!({"name": "run_shell_command", "parametersJsonSchema": schema()});
        json!({"contents": contents, "tools": [{"functionDeclarations": [tool]}]})
    }

    #[tokio::test]
    async fn chat_streams_text_then_its_reason_and_usage() {
        let frames = frames(CHAT_PATH, chat(json!([{"role": "user", "content": "hi"}]))).await;
        let text = all(&frames, "/choices/0/delta/content");
        assert_eq!(text, ["", "Hello ", "from ", "mock", "."]);
        assert_eq!(all(&frames, "/choices/0/finish_reason"), ["stop"]);
        assert_eq!(all(&frames, "/usage/total_tokens"), [120]);
    }

    #[tokio::test]
    async fn chat_calls_a_tool_and_reads_what_it_said() {
        let ask = json!({"role": "user", "content": [{"type": "text", "text": "USE_TOOL CWD=/w"}]});
        let frames_of_call = frames(CHAT_PATH, chat(json!([ask]))).await;
        let call = "/choices/0/delta/tool_calls/0/function";
        assert_eq!(all(&frames_of_call, &format!("{call}/name")), ["bash"]);
        let arguments = all(&frames_of_call, &format!("{call}/arguments"));
        let arguments: String = arguments.iter().filter_map(Value::as_str).collect();
        assert!(arguments.contains("/w/mock_shell.txt"), "{arguments}");
        let said = json!({"role": "tool", "tool_call_id": "c", "content": "done"});
        let frames = frames(CHAT_PATH, chat(json!([ask, {"role": "assistant"}, said]))).await;
        let text = all(&frames, "/choices/0/delta/content");
        assert_eq!(text, ["", "The tool said: ", "done"]);
    }

    #[tokio::test]
    async fn messages_open_fill_and_close_each_block() {
        let tools = json!([{"name": "Bash", "input_schema": schema()}]);
        let ask = json!({"role": "user", "content": [{"type": "text", "text": "USE_TOOL CWD=/w"}]});
        let body = |messages: Value| json!({"model": "m", "stream": true, "messages": messages, "tools": tools});
        let call = frames(MESSAGES_PATH, body(json!([ask]))).await;
        let kinds = all(&call, "/type");
        let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
        let expected = [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ];
        assert_eq!(kinds, expected);
        assert_eq!(all(&call, "/content_block/name"), ["Bash"]);
        assert_eq!(all(&call, "/delta/stop_reason"), ["tool_use"]);
        let arguments = &all(&call, "/delta/partial_json")[0];
        let arguments = arguments.as_str().unwrap_or_default();
        assert!(arguments.contains("/w/mock_shell.txt"), "{arguments}");

        let said = json!({"type": "tool_result", "tool_use_id": "t", "content": "done"});
        let said = json!({"role": "user", "content": [said]});
        let after = frames(
            MESSAGES_PATH,
            body(json!([ask, {"role": "assistant"}, said])),
        )
        .await;
        assert_eq!(all(&after, "/delta/text"), ["The tool said: ", "done"]);
        assert_eq!(all(&after, "/delta/stop_reason"), ["end_turn"]);

        let mut next = said.clone();
        let reminder = json!({"type": "text", "text": "<reminder>FAIL</reminder>"});
        for block in [json!({"type": "text", "text": "Say hello"}), reminder] {
            next["content"].as_array_mut().expect("blocks").push(block);
        }
        let after = frames(
            MESSAGES_PATH,
            body(json!([ask, {"role": "assistant"}, next])),
        )
        .await;
        assert_eq!(all(&after, "/delta/text"), ["Hello ", "from ", "mock", "."]);
    }

    #[tokio::test]
    async fn responses_open_fill_and_close_each_item() {
        let frames = frames(RESPONSES_PATH, responses(json!("please THINK"))).await;
        let kinds = all(&frames, "/type");
        let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
        let text = "response.output_text";
        let thought = "response.reasoning_summary";
        let expected = [
            "response.created",
            "response.output_item.added",
            &format!("{thought}_part.added"),
            &format!("{thought}_text.delta"),
            &format!("{thought}_text.delta"),
            &format!("{thought}_text.done"),
            &format!("{thought}_part.done"),
            "response.output_item.done",
            "response.output_item.added",
            "response.content_part.added",
            &format!("{text}.delta"),
            &format!("{text}.delta"),
            &format!("{text}.done"),
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ];
        assert_eq!(kinds, expected);
        let last = frames.last().expect("there are frames");
        assert_eq!(
            last["response"]["output"][1]["content"][0]["text"],
            "I thought."
        );
    }

    #[tokio::test]
    async fn responses_call_a_tool_and_read_what_it_said() {
        let ask = json!({"role": "user", "content": [{"type": "input_text", "text": "USE_TOOL"}]});
        let frames_of_call = frames(RESPONSES_PATH, responses(json!([ask]))).await;
        let last = frames_of_call.last().expect("there are frames");
        assert_eq!(last["response"]["output"][1]["name"], "shell");
        let said = json!({"type": "function_call_output", "call_id": "c", "output": "done"});
        let frames = frames(RESPONSES_PATH, responses(json!([ask, said]))).await;
        let pieces = all(&frames, "/delta");
        assert_eq!(pieces, ["The tool said: ", "done"]);
    }

    #[tokio::test]
    async fn gemini_streams_text_and_its_reason() {
        let ask = json!({"role": "user", "parts": [{"text": "context"}, {"text": "CUT"}]});
        let frames = frames(GEMINI_PATH, contents(json!([ask]))).await;
        let text = all(&frames, "/candidates/0/content/parts/0/text");
        assert_eq!(text, ["Cut ", "off", ""]);
        assert_eq!(all(&frames, "/candidates/0/finishReason"), ["MAX_TOKENS"]);
    }

    #[tokio::test]
    async fn gemini_calls_a_tool_and_reads_what_it_said() {
        let ask = json!({"role": "user", "parts": [{"text": "USE_TOOL"}]});
        let frames_of_call = frames(GEMINI_PATH, contents(json!([ask]))).await;
        let call = "/candidates/0/content/parts/0/functionCall/name";
        assert_eq!(all(&frames_of_call, call), ["run_shell_command"]);
        let said = json!({"functionResponse": {"response": {"output": "done"}}});
        let said = json!({"role": "user", "parts": [said]});
        let frames = frames(GEMINI_PATH, contents(json!([ask, said]))).await;
        let text = all(&frames, "/candidates/0/content/parts/0/text");
        assert_eq!(text, ["The tool said: ", r#"{"output":"done"}"#, ""]);
    }

    #[tokio::test]
    async fn an_answer_in_one_piece_says_the_same() {
        let mut body = chat(json!([{"role": "user", "content": "hi"}]));
        body["stream"] = json!(false);
        let (_, answer) = ask(CHAT_PATH, body).await;
        assert!(
            answer.contains(r#""content":"Hello from mock.""#),
            "{answer}"
        );
        let mut body = responses(json!("hi"));
        body["stream"] = json!(false);
        let (_, answer) = ask(RESPONSES_PATH, body).await;
        assert!(answer.contains(r#""text":"Hello from mock.""#), "{answer}");
        let body = contents(json!([{"role": "user", "parts": [{"text": "hi"}]}]));
        let (_, answer) = ask("/v1beta/models/m:generateContent", body).await;
        assert!(answer.contains(r#""text":"Hello from mock.""#), "{answer}");
    }

    #[tokio::test]
    async fn what_cannot_be_served_is_refused() {
        let body = chat(json!([{"role": "user", "content": "FAIL"}]));
        assert_eq!(ask(CHAT_PATH, body).await.0, StatusCode::BAD_REQUEST);
        let unknown = "/v1beta/models/m:embedContent";
        assert_eq!(ask(unknown, json!({})).await.0, StatusCode::NOT_FOUND);
        let counted = ask("/v1beta/models/m:countTokens", json!({})).await;
        assert_eq!(
            counted,
            (StatusCode::OK, r#"{"totalTokens":100}"#.to_owned())
        );
    }
}
