//! What is sent when rules demand more of a message than its line says.

use std::sync::Arc;

use super::pattern::{Element, Object, Pattern};
use super::step::{Act, AnswerBody, Message, Step, What};

/// Returns the step as it is sent: with everything in it that is demanded below.
pub(crate) fn with_demands(step: &Arc<Step>) -> Arc<Step> {
    if step.demands.is_empty() {
        return step.clone();
    }
    let mut merged = (**step).clone();
    if let Act::Message(message) = &mut merged.act
        && let Some(body) = body_mut(message)
    {
        for demand in &step.demands {
            let empty = || Pattern::Object(Object::default());
            merge(body.get_or_insert_with(empty), &demand.pattern);
        }
    }
    Arc::new(merged)
}

fn body_mut(message: &mut Message) -> Option<&mut Option<Pattern>> {
    match &mut message.what {
        What::Request { params, .. } | What::Notification { params, .. } => Some(params),
        What::Answer {
            body: AnswerBody::Result(pattern) | AnswerBody::Error(pattern),
            ..
        } => Some(pattern),
        _ => None,
    }
}

/// Puts into a pattern what another says, where that can be sent.
fn merge(said: &mut Pattern, more: &Pattern) {
    match (&mut *said, more.sent()) {
        (Pattern::Object(said), Pattern::Object(more)) => {
            for (key, value) in &more.members {
                match said.members.get_mut(key) {
                    Some(said) => merge(said, value),
                    None => {
                        // What is too vague here is filled in with plain values.
                        let mut kept = value.clone();
                        strip(&mut kept);
                        if kept.vague().is_none() {
                            said.members.insert(key.clone(), kept);
                        }
                    }
                }
            }
        }
        (Pattern::Array(said), Pattern::Array(more)) if elementwise(said, more) => {
            for (said, more) in said.iter_mut().zip(more) {
                if let (Element::One(said), Element::One(more)) = (said, more) {
                    merge(said, more);
                }
            }
        }
        // It holds some values here, and says nothing of the others.
        (Pattern::Array(_), Pattern::Array(more)) if has_rest(more) => {}
        // A name that both know keeps its value.
        (Pattern::Name(_), _) => {}
        (_, more) if more.vague().is_none() => *said = more.clone(),
        _ => {}
    }
}

fn elementwise(said: &[Element], more: &[Element]) -> bool {
    said.len() == more.len() && !has_rest(said) && !has_rest(more)
}

fn has_rest(elements: &[Element]) -> bool {
    elements
        .iter()
        .any(|element| matches!(element, Element::Rest))
}

/// Takes the members out that cannot be sent.
fn strip(pattern: &mut Pattern) {
    if let Pattern::Object(object) = pattern {
        object.members.values_mut().for_each(strip);
        object.members.retain(|_, value| value.vague().is_none());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::lone_pattern;

    #[track_caller]
    fn check(said: &str, more: &str, expected: &str) {
        let mut said = lone_pattern(said).unwrap();
        merge(&mut said, &lone_pattern(more).unwrap());
        assert_eq!(said.to_string(), expected);
    }

    #[test]
    fn members_are_added() {
        check("{}", r#"{"a": 1}"#, r#"{"a": 1}"#);
        check(
            r#"{"a": {"b": 1}}"#,
            r#"{"a": {"c": 2}}"#,
            r#"{"a": {"b": 1, "c": 2}}"#,
        );
        check(r#"{"a": any integer | 2}"#, r#"{"a": 1}"#, r#"{"a": 1}"#);
        check(r#"{"a": "$s"}"#, r#"{"a": any string}"#, r#"{"a": "$s"}"#);
    }

    #[test]
    fn what_is_too_vague_is_left() {
        check("{}", r#"{"a": any string}"#, "{}");
        check("{}", r#"{"a": {"b": /x/, "c": 1}}"#, r#"{"a": {"c": 1}}"#);
        check(r#"{"a": 1}"#, r#"{"a": not 2}"#, r#"{"a": 1}"#);
    }

    #[test]
    fn arrays() {
        check("[{}, 2]", r#"[{"a": 1}, 2]"#, r#"[{"a": 1}, 2]"#);
        check("[1, 2]", "[1, ...]", "[1, 2]");
        check("[1]", "[1, 2]", "[1, 2]");
    }
}
