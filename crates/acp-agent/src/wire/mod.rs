//! Host values in the types of the protocol, and back.

mod config;
pub(crate) mod event_meta;
pub(crate) mod form;
pub(crate) mod permission;
pub(crate) mod prompt;
mod session_state;
mod time;

use std::path::Path;

use acp_host::{
    Block, Media, PlanEntry, PlanPriority, PlanStatus, Resource, ResourceBody, ResourceLink,
    ToolCall, ToolContent, ToolKind, ToolLocation,
};
use acp_protocol::{
    RawJson,
    v1::{self, ContentBlock, PlanEntryPriority, PlanEntryStatus, ToolCallContent},
};

pub(crate) use config::{config_options, config_value, mode_state};
pub(crate) use session_state::{command, compaction, notice};
pub(crate) use time::rfc3339;

/// A text of a message.
pub(crate) fn text(text: String) -> ContentBlock {
    ContentBlock::Text(v1::TextContent::new(text))
}

/// A piece of a message or of what a tool shows.
pub(crate) fn block(block: Block) -> ContentBlock {
    match block {
        Block::Text(inner) | Block::Refusal(inner) | Block::Thinking(inner) => text(inner),
        Block::Image(Media {
            media_type,
            base64,
            uri,
        }) => {
            let mut image = v1::ImageContent::new(base64, media_type);
            image.uri = uri;
            image.into()
        }
        Block::Audio(audio) => v1::AudioContent::new(audio.base64, audio.media_type).into(),
        Block::Link(link) => resource_link(link).into(),
        Block::Resource(resource) => embedded(resource).into(),
    }
}

fn resource_link(link: ResourceLink) -> v1::ResourceLink {
    let mut wire = v1::ResourceLink::new(link.name, link.uri);
    wire.title = link.title;
    wire.description = link.description;
    wire.mime_type = link.media_type;
    wire.size = link.size.and_then(|size| i64::try_from(size).ok());
    wire
}

fn embedded(resource: Resource) -> v1::EmbeddedResource {
    let Resource {
        uri,
        media_type,
        body,
    } = resource;
    match body {
        ResourceBody::Text(text) => {
            let mut contents = v1::TextResourceContents::new(text, uri);
            contents.mime_type = media_type;
            v1::EmbeddedResource::new(contents)
        }
        ResourceBody::Base64(blob) => {
            let mut contents = v1::BlobResourceContents::new(blob, uri);
            contents.mime_type = media_type;
            v1::EmbeddedResource::new(contents)
        }
    }
}

/// All of a tool call.
pub(crate) fn tool_call(tool: ToolCall, status: v1::ToolCallStatus) -> v1::ToolCall {
    let mut wire = v1::ToolCall::new(tool.id.to_shared(), tool.title);
    wire.name = Some(tool.name);
    wire.kind = Some(tool_kind(tool.kind));
    wire.status = Some(status);
    wire.content = tool_contents(tool.content);
    wire.locations = locations(tool.locations);
    wire.raw_input = tool.input.map(|input| RawJson::from(input.into_raw()));
    wire
}

pub(crate) fn tool_kind(kind: ToolKind) -> v1::ToolKind {
    match kind {
        ToolKind::Read => v1::ToolKind::Read,
        ToolKind::Edit => v1::ToolKind::Edit,
        ToolKind::Delete => v1::ToolKind::Delete,
        ToolKind::Move => v1::ToolKind::Move,
        ToolKind::Search => v1::ToolKind::Search,
        ToolKind::Execute => v1::ToolKind::Execute,
        ToolKind::Think => v1::ToolKind::Think,
        ToolKind::Fetch => v1::ToolKind::Fetch,
        ToolKind::SwitchMode => v1::ToolKind::SwitchMode,
        ToolKind::Other => v1::ToolKind::Other,
    }
}

pub(crate) fn tool_contents(contents: Vec<ToolContent>) -> Vec<ToolCallContent> {
    contents.into_iter().map(tool_content).collect()
}

fn tool_content(content: ToolContent) -> ToolCallContent {
    match content {
        ToolContent::Block(inner) => v1::Content::new(block(inner)).into(),
        ToolContent::Diff(diff) => {
            let mut wire = v1::Diff::new(path_text(&diff.path), diff.new_text);
            wire.old_text = diff.old_text;
            wire.into()
        }
        ToolContent::Terminal(id) => v1::Terminal::new(id).into(),
    }
}

pub(crate) fn locations(locations: Vec<ToolLocation>) -> Vec<v1::ToolCallLocation> {
    let locations = locations.into_iter().map(|location| {
        let mut wire = v1::ToolCallLocation::new(path_text(&location.path));
        wire.line = location.line;
        wire
    });
    locations.collect()
}

pub(crate) fn plan(entries: Vec<PlanEntry>) -> v1::Plan {
    v1::Plan::new(entries.into_iter().map(|entry| {
        let priority = match entry.priority {
            PlanPriority::High => PlanEntryPriority::High,
            PlanPriority::Medium => PlanEntryPriority::Medium,
            PlanPriority::Low => PlanEntryPriority::Low,
        };
        let status = match entry.status {
            PlanStatus::Pending => PlanEntryStatus::Pending,
            PlanStatus::InProgress => PlanEntryStatus::InProgress,
            PlanStatus::Completed => PlanEntryStatus::Completed,
        };
        v1::PlanEntry::new(entry.text, priority, status)
    }))
}

/// A path as the client reads it. Bytes that are no text have no form on the
/// wire; they become the replacement character.
pub(crate) fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
