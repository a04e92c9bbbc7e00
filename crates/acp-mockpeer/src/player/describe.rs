//! Steps and lines in words.

use std::sync::LazyLock;

use acp_recording::{RecordedEvent, signal_name};
use acp_text::Redactor;

use crate::language::step::{Act, AnswerBody, Message, Step, What};

/// Says what a step awaits.
pub(super) fn step(step: &Step) -> String {
    match &step.act {
        Act::Message(expected) => message(expected),
        Act::Bytes(bytes) => format!("the line {:?}", String::from_utf8_lossy(bytes)),
        Act::Nothing(time) => format!("nothing for {time:?}"),
        Act::Close { .. } => format!("the {} to close", step.from),
        Act::Exit { .. } => "the agent to exit".to_owned(),
        _ => "a step".to_owned(),
    }
}

/// Says what a message is, without what is in it.
pub(super) fn message(message: &Message) -> String {
    match &message.what {
        What::Request { method, .. } => format!("the request {method}"),
        What::Notification { method, .. } => format!("the notification {method}"),
        What::Answer { to, body, .. } => {
            let what = match body {
                AnswerBody::Result(_) => "result",
                AnswerBody::Error(_) => "error",
                AnswerBody::Either => "answer",
            };
            match (&to.name, &to.method) {
                (Some(name), Some(method)) => format!("the {what} of `{name}` ({method})"),
                (Some(name), None) => format!("the {what} of `{name}`"),
                (None, Some(method)) => format!("the {what} of {method}"),
                (None, None) => format!("the {what} of some request"),
            }
        }
        What::Any { kind, .. } => kind.words().to_owned(),
        What::Whole(pattern) => format!("the message {pattern}"),
    }
}

/// Says what an entry of a transcript is, in one line; `text` shows what was written.
pub(crate) fn event(what: &RecordedEvent, text: impl Fn(&[u8]) -> String) -> String {
    match what {
        RecordedEvent::Line(bytes) => text(bytes),
        RecordedEvent::Unfinished(bytes) => format!("{} (no line feed)", text(bytes)),
        RecordedEvent::Stderr(bytes) => format!("stderr: {}", text(bytes)),
        RecordedEvent::Close => "closed".to_owned(),
        RecordedEvent::Exit(code) => format!("exit {code}"),
        RecordedEvent::Killed(signal) => format!("exit by {}", signal_name(*signal)),
        RecordedEvent::Left(lines) => format!("… {lines} lines left out"),
        RecordedEvent::Unreadable(bytes) => format!("… a line of {bytes} bytes, which is no JSON"),
    }
}

/// Shows a line without secrets, cut to a length that people read.
pub(crate) fn line(bytes: &[u8]) -> String {
    const LONGEST: usize = 400;
    static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::new);
    // Far more than is shown, so that no secret is cut.
    let redacted = REDACTOR.redact_beginning(&String::from_utf8_lossy(bytes), LONGEST * 40);
    let shown = acp_text::visible(&redacted);
    match acp_text::cut_chars(&shown, LONGEST) {
        whole if whole.len() == shown.len() => shown.into_owned(),
        cut => format!("{cut}… ({} bytes)", bytes.len()),
    }
}
