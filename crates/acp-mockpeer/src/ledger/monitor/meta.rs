//! What is of one's own, and how it is announced.

use serde_json::Value;

/// Tells whether capabilities announce something of one's own: under `_meta`
/// of the object itself, or of one in it (R183, R185).
pub(super) fn announces(capabilities: &Value) -> bool {
    let Value::Object(members) = capabilities else {
        return false;
    };
    members.iter().any(|(name, value)| match name.as_str() {
        "_meta" => value.as_object().is_some_and(|meta| !meta.is_empty()),
        _ => announces(value),
    })
}

/// Says what is wrong with what stands under the names of trace context in any
/// `_meta` of a message (R178).
pub(super) fn not_of_tracing(message: &Value) -> Option<String> {
    match message {
        Value::Object(members) => {
            let meta = members.get("_meta").and_then(Value::as_object);
            for (name, value) in meta.into_iter().flatten() {
                let fits = match name.as_str() {
                    "traceparent" => value.as_str().is_some_and(is_traceparent),
                    "tracestate" | "baggage" => value.is_string(),
                    _ => true,
                };
                if !fits {
                    return Some(format!("`{name}` under `_meta` is no trace context"));
                }
            }
            let inner = members.iter().filter(|(name, _)| *name != "_meta");
            inner.map(|(_, value)| value).find_map(not_of_tracing)
        }
        Value::Array(values) => values.iter().find_map(not_of_tracing),
        _ => None,
    }
}

/// `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`: version, trace,
/// parent and flags; later versions may have more behind them.
fn is_traceparent(text: &str) -> bool {
    let mut parts = text.split('-');
    [2, 32, 16, 2].iter().all(|length| {
        parts.next().is_some_and(|part| {
            let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
            part.len() == *length && part.chars().all(is_hex)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn announced_anywhere_below() {
        assert!(announces(&json!({"_meta": {"a": 1}})));
        assert!(announces(&json!({"session": {"_meta": {"a": 1}}})));
        assert!(!announces(
            &json!({"session": {"_meta": {}}, "_meta": null})
        ));
        assert!(!announces(&json!(null)));
    }

    #[test]
    fn trace_context() {
        let message = |meta: Value| json!({"params": {"update": [{"_meta": meta}]}});
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        for meta in [
            json!({"traceparent": good, "tracestate": "a=b", "baggage": ""}),
            json!({"other": {"traceparent": 1, "_meta": {"traceparent": 1}}}),
            json!(null),
        ] {
            assert_eq!(not_of_tracing(&message(meta)), None);
        }
        for meta in [
            json!({"traceparent": 1}),
            json!({"traceparent": "here"}),
            json!({"traceparent": good.to_uppercase()}),
            json!({"tracestate": ["a"]}),
            json!({"baggage": null}),
        ] {
            assert!(not_of_tracing(&message(meta.clone())).is_some(), "{meta}");
        }
    }
}
