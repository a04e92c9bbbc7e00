//! The outside of a message: JSON, and what JSON-RPC says of its members.

use serde_json::Value;

use super::Shape;
use crate::rules::{Check, Finding};
use acp_recording::PeerSide;

/// Reads a line as a JSON object.
pub(super) fn object(from: PeerSide, line: &[u8], findings: &mut Vec<Finding>) -> Option<Value> {
    let noise: &'static [&'static str] = match from {
        PeerSide::Agent => &["R004", "R005"],
        PeerSide::Client => &["R004", "R006"],
    };
    let mut refuse = |rules, message: String| {
        findings.push(Finding::new(Check::Noise, rules, message));
        None
    };
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let Ok(text) = std::str::from_utf8(line) else {
        return refuse(&["R001"], "this line is not UTF-8".to_owned());
    };
    if text.trim().is_empty() {
        return refuse(noise, "this line is blank".to_owned());
    }
    match serde_json::from_str::<Value>(text) {
        Ok(message @ Value::Object(_)) => Some(message),
        Ok(_) => refuse(noise, "this line is JSON, but no object".to_owned()),
        Err(error) => {
            let rules = match (from, text.trim_start().chars().next()) {
                (_, Some('{')) if error.is_eof() => CUT,
                // Text that nobody took for a message is a log.
                (PeerSide::Agent, Some(first)) if first.is_alphabetic() => LOG,
                _ => noise,
            };
            refuse(rules, format!("this line is no JSON: {error}"))
        }
    }
}

/// A message that goes on in the next line.
const CUT: &[&str] = &["R003"];

/// What belongs on stderr.
const LOG: &[&str] = &["R004", "R005", "R007"];

/// Tells what a message is by the members it has.
pub(super) fn shape(message: &Value, findings: &mut Vec<Finding>) -> Shape {
    let mut complain = |rules, text: &str| {
        findings.push(Finding::new(Check::Envelope, rules, text.to_owned()));
    };
    if message["jsonrpc"] != "2.0" {
        complain(&["R004"], "`jsonrpc` has to be \"2.0\"");
    }
    let id = message.get("id");
    let method = message.get("method");
    let answers = message.get("result").is_some() || message.get("error").is_some();
    match id {
        Some(Value::Number(number)) if !(number.is_i64() || number.is_u64()) => {
            complain(&["R018"], "an id that is a number has no fraction");
        }
        Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
            complain(&["R016"], "an id is a string or a number");
        }
        _ => {}
    }
    match method {
        Some(Value::String(method)) => {
            if answers {
                complain(
                    &["R013"],
                    "a message with a method has no result and no error",
                );
            }
            match id {
                None => Shape::Notification {
                    method: method.clone(),
                },
                Some(id) => {
                    if id.is_null() {
                        complain(&["R017"], "a request has an id other than null");
                    }
                    Shape::Request {
                        method: method.clone(),
                    }
                }
            }
        }
        Some(_) => {
            complain(&["R004"], "`method` has to be a string");
            Shape::Other
        }
        None if answers => {
            if message.get("result").is_some() && message.get("error").is_some() {
                complain(&["R013"], "an answer has a result or an error, not both");
            }
            if id.is_none() {
                complain(&["R019"], "an answer has the id of its request");
            }
            Shape::Answer { to: None }
        }
        None => {
            complain(
                &["R004"],
                "this is no request, no notification and no answer",
            );
            Shape::Other
        }
    }
}
