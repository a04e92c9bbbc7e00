//! RecordBody the model is told: instructions, what happened before, the prompt.

use std::collections::VecDeque;

use acp_agent::{
    host::{Block, Resource, ResourceBody, ToolContent, ToolEnd},
    kit::{Record, RecordBody, Turn, TurnError},
};
use serde::Serialize;

/// A message of the chat API.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(crate) enum Message {
    System {
        content: String,
    },
    User {
        content: Content,
    },
    Assistant {
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call>,
    },
    Tool {
        tool_call_id: String,
        content: String,
    },
}

/// RecordBody a user says; a plain text where that is all, for servers that know no
/// more.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Part {
    Text { text: String },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ImageUrl {
    url: String,
}

/// A tool that the model calls.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Call {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) function: Function,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// JSON, as the model wrote it.
    pub(crate) arguments: String,
}

impl Message {
    pub(crate) fn user(blocks: &[Block]) -> Self {
        let mut parts: Vec<Part> = blocks.iter().filter_map(part).collect();
        let content = match &mut parts[..] {
            [Part::Text { text }] => Content::Text(std::mem::take(text)),
            _ => Content::Parts(parts),
        };
        Self::User { content }
    }

    fn bytes(&self) -> usize {
        serde_json::to_vec(self).map_or(0, |json| json.len())
    }
}

fn part(block: &Block) -> Option<Part> {
    let text = match block {
        Block::Text(text) => text.clone(),
        Block::Link(link) => format!("[{}]({})", link.name, link.uri),
        Block::Resource(Resource {
            uri,
            body: ResourceBody::Text(text),
            ..
        }) => format!("The content of {uri}:\n{text}"),
        Block::Image(image) => {
            let url = format!("data:{};base64,{}", image.media_type, image.base64);
            let image_url = ImageUrl { url };
            return Some(Part::ImageUrl { image_url });
        }
        // Nothing else is accepted.
        _ => return None,
    };
    Some(Part::Text { text })
}

/// RecordBody happened in the session before the turn, as the model is told it: the
/// last turns, as many as fit.
pub(crate) async fn earlier(turn: &Turn, max_bytes: usize) -> Result<Vec<Message>, TurnError> {
    let mut turns = Turns::new(max_bytes);
    let mut records = turn.earlier();
    while let Some(record) = records.next().await? {
        turns.add(record);
    }
    Ok(turns.finish())
}

/// The last turns of a conversation.
struct Turns {
    max_bytes: usize,
    bytes: usize,
    /// The messages of each turn, and what they weigh.
    turns: VecDeque<(Vec<Message>, usize)>,
}

impl Turns {
    fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            bytes: 0,
            turns: VecDeque::new(),
        }
    }

    fn add(&mut self, record: Record) {
        if let RecordBody::Asked(blocks) = &record.body {
            self.weigh();
            let asked = vec![Message::user(blocks)];
            self.turns.push_back((asked, 0));
        } else if let Some((messages, _)) = self.turns.back_mut() {
            said(messages, record.body);
        }
    }

    /// Weighs the turn that has ended, and forgets the first ones if there are
    /// too many.
    fn weigh(&mut self) {
        if let Some((messages, bytes)) = self.turns.back_mut() {
            answer_open_calls(messages);
            *bytes = messages.iter().map(Message::bytes).sum();
            self.bytes += *bytes;
        }
        while self.bytes > self.max_bytes
            && let Some((_, bytes)) = self.turns.pop_front()
        {
            self.bytes -= bytes;
        }
    }

    fn finish(mut self) -> Vec<Message> {
        self.weigh();
        let turns = self.turns.into_iter();
        turns.flat_map(|(messages, _)| messages).collect()
    }
}

/// Adds what happened to the messages of its turn.
fn said(messages: &mut Vec<Message>, what: RecordBody) {
    match what {
        RecordBody::Said(Block::Text(text)) => messages.push(Message::Assistant {
            content: Some(text),
            tool_calls: Vec::new(),
        }),
        RecordBody::ToolRequested(tool) | RecordBody::ToolStarted(tool) => {
            let id = tool.id.as_str();
            let is_known = |message: &Message| {
                matches!(message, Message::Assistant { tool_calls, .. }
                    if tool_calls.iter().any(|call| call.id == id))
            };
            if messages.iter().any(is_known) {
                return;
            }
            let arguments = tool.input.as_ref().map(|input| input.as_str().to_owned());
            let call = Call {
                id: id.to_owned(),
                kind: "function",
                function: Function {
                    name: tool.name,
                    arguments: arguments.unwrap_or_else(|| "{}".to_owned()),
                },
            };
            messages.push(Message::Assistant {
                content: None,
                tool_calls: vec![call],
            });
        }
        RecordBody::ToolCompleted(end) => messages.push(Message::Tool {
            tool_call_id: end.id.as_str().to_owned(),
            content: output(&end),
        }),
        _ => {}
    }
}

/// RecordBody a tool told the model: what it returned, or else what it showed.
fn output(end: &ToolEnd) -> String {
    let returned = end.output.as_ref();
    let returned = returned.and_then(|output| serde_json::from_str(output.as_str()).ok());
    returned.unwrap_or_else(|| {
        let texts = end.content.iter().filter_map(|content| match content {
            ToolContent::Block(block) => block.as_text(),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    })
}

/// Answers the calls of a turn that did not come to its end: the API wants an
/// answer to each.
fn answer_open_calls(messages: &mut Vec<Message>) {
    let mut open: Vec<String> = Vec::new();
    for message in &*messages {
        match message {
            Message::Assistant { tool_calls, .. } => {
                open.extend(tool_calls.iter().map(|call| call.id.clone()));
            }
            Message::Tool { tool_call_id, .. } => open.retain(|id| id != tool_call_id),
            _ => {}
        }
    }
    messages.extend(open.into_iter().map(|id| Message::Tool {
        tool_call_id: id,
        content: "interrupted".to_owned(),
    }));
}

#[cfg(test)]
mod tests {
    use acp_agent::host::{Media, ResourceLink, ToolCall};

    use super::*;

    fn messages(max_bytes: usize, happened: Vec<RecordBody>) -> serde_json::Value {
        let mut turns = Turns::new(max_bytes);
        for (number, what) in (0..).zip(happened) {
            turns.add(Record::new("t".into(), number, what));
        }
        serde_json::to_value(turns.finish()).unwrap()
    }

    fn asked(text: &str) -> RecordBody {
        RecordBody::Asked(vec![Block::text(text)])
    }

    fn says(text: &str) -> RecordBody {
        RecordBody::Said(Block::text(text))
    }

    #[test]
    fn a_conversation_is_told_again() {
        let tool = ToolCall::new("c1", "read_file", "Read a");
        let told = messages(
            10_000,
            vec![
                asked("one"),
                RecordBody::Said(Block::Thinking("hm".into())),
                says("I look."),
                RecordBody::ToolRequested(tool.clone()),
                RecordBody::ToolStarted(tool.clone()),
                RecordBody::ToolCompleted(
                    ToolEnd::completed("c1").with_content(ToolContent::text("a")),
                ),
                says("Done."),
                asked("two"),
                RecordBody::ToolStarted(ToolCall::new("c2", "run", "Run")),
            ],
        );
        let function = |name: &str| serde_json::json!({"name": name, "arguments": "{}"});
        let call = |id: &str, name: &str| {
            let call =
                serde_json::json!({"id": id, "type": "function", "function": function(name)});
            serde_json::json!({"role": "assistant", "tool_calls": [call]})
        };
        assert_eq!(
            told,
            serde_json::json!([
                {"role": "user", "content": "one"},
                {"role": "assistant", "content": "I look."},
                call("c1", "read_file"),
                {"role": "tool", "tool_call_id": "c1", "content": "a"},
                {"role": "assistant", "content": "Done."},
                {"role": "user", "content": "two"},
                call("c2", "run"),
                {"role": "tool", "tool_call_id": "c2", "content": "interrupted"},
            ])
        );
    }

    #[test]
    fn the_oldest_turns_are_left_out() {
        let told = messages(
            100,
            vec![asked("one"), says(&"x".repeat(90)), asked("two"), says("y")],
        );
        assert_eq!(told[0]["content"], "two");
        assert_eq!(told.as_array().unwrap().len(), 2);
    }

    #[test]
    fn prompts_hold_more_than_text() {
        let blocks = [
            Block::text("look"),
            Block::Image(Media::new("image/png", "AAAA")),
            Block::Link(ResourceLink::new("file:///a", "a")),
            Block::Resource(Resource::text("file:///b", "bb")),
        ];
        let told = serde_json::to_value(Message::user(&blocks)).unwrap();
        let content = &told["content"];
        assert_eq!(content[1]["image_url"]["url"], "data:image/png;base64,AAAA");
        assert_eq!(content[2]["text"], "[a](file:///a)");
        assert_eq!(content[3]["text"], "The content of file:///b:\nbb");
    }
}
