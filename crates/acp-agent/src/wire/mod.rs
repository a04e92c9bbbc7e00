//! Host values in the words of the protocol, and back.

mod config;
pub(crate) mod event_meta;
pub(crate) mod form;
pub(crate) mod prompt;
mod session_state;
mod time;

use std::path::Path;

use acp_host::{
    Block, Diff, Media, PlanEntry, PlanPriority, PlanStatus, Resource, ResourceBody, ResourceLink,
    ToolCall, ToolContent, ToolKind, ToolLocation,
};
use acp_protocol::{
    RawJson,
    v1::{self, ContentBlock, PlanEntryPriority, PlanEntryStatus, ToolCallContent},
};

pub(crate) use config::{config_options, config_value, mode_state};
pub(crate) use session_state::{command, compaction, notice};
pub(crate) use time::rfc3339;

/// A piece of a message or of what a tool shows.
pub(crate) fn block(block: Block) -> ContentBlock {
    match block {
        Block::Text(text) | Block::Refusal(text) | Block::Thinking(text) => {
            ContentBlock::Text(v1::TextContent::new(text))
        }
        Block::Image(Media {
            media_type,
            base64,
            uri,
            ..
        }) => {
            let mut image = v1::ImageContent::new(base64, media_type);
            image.uri = uri;
            image.into()
        }
        Block::Audio(Media {
            media_type, base64, ..
        }) => v1::AudioContent::new(base64, media_type).into(),
        Block::Link(link) => resource_link(link).into(),
        Block::Resource(resource) => embedded(resource).into(),
        // Every kind is named above; one that `acp-host` adds is named here
        // in the same release.
        other => ContentBlock::Text(v1::TextContent::new(other.as_text().unwrap_or_default())),
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
        ..
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
        _ => v1::EmbeddedResource::new(v1::TextResourceContents::new("", uri)),
    }
}

/// All of a tool call.
pub(crate) fn tool_call(tool: ToolCall, status: v1::ToolCallStatus) -> v1::ToolCall {
    let mut wire = v1::ToolCall::new(tool.id.to_shared(), tool.title);
    wire.name = Some(tool.name);
    wire.kind = Some(tool_kind(tool.kind));
    wire.status = Some(status);
    wire.content = tool.content.into_iter().map(tool_content).collect();
    wire.locations = tool.locations.into_iter().map(location).collect();
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
        ToolKind::Other | _ => v1::ToolKind::Other,
    }
}

pub(crate) fn tool_content(content: ToolContent) -> ToolCallContent {
    match content {
        ToolContent::Block(inner) => v1::Content::new(block(inner)).into(),
        ToolContent::Diff(Diff {
            path,
            old_text,
            new_text,
            ..
        }) => {
            let mut diff = v1::Diff::new(path_text(&path), new_text);
            diff.old_text = old_text;
            diff.into()
        }
        ToolContent::Terminal(id) => v1::Terminal::new(id).into(),
        _ => v1::Content::new(ContentBlock::Text(v1::TextContent::new(""))).into(),
    }
}

pub(crate) fn location(location: ToolLocation) -> v1::ToolCallLocation {
    let mut wire = v1::ToolCallLocation::new(path_text(&location.path));
    wire.line = location.line;
    wire
}

pub(crate) fn plan(entries: Vec<PlanEntry>) -> v1::Plan {
    v1::Plan::new(entries.into_iter().map(|entry| {
        let priority = match entry.priority {
            PlanPriority::High => PlanEntryPriority::High,
            PlanPriority::Low => PlanEntryPriority::Low,
            PlanPriority::Medium | _ => PlanEntryPriority::Medium,
        };
        let status = match entry.status {
            PlanStatus::InProgress => PlanEntryStatus::InProgress,
            PlanStatus::Completed => PlanEntryStatus::Completed,
            PlanStatus::Pending | _ => PlanEntryStatus::Pending,
        };
        v1::PlanEntry::new(entry.text, priority, status)
    }))
}

/// A path as the client reads it. Bytes that are no text have no form on the
/// wire; they become the replacement character.
pub(crate) fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
