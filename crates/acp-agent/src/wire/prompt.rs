//! Prompts as the host reads them.

use acp_host::{Block, Media, PromptContent, Resource, ResourceLink};
use acp_protocol::{
    rpc::Fault,
    v1::{ContentBlock, EmbeddedResourceResource},
};

use crate::fault;

/// Takes over a prompt. Text and links are always accepted (R039), the rest
/// only if the agent advertised it.
///
/// # Errors
///
/// -32602, with the place of the block that cannot be used.
pub(crate) fn from_wire(
    prompt: Vec<ContentBlock>,
    accepts: PromptContent,
) -> Result<Vec<Block>, Fault> {
    if prompt.is_empty() {
        return Err(fault::invalid_params(fault::PROMPT, "the prompt is empty"));
    }
    let blocks = prompt.into_iter().enumerate();
    blocks
        .map(|(at, wire)| block(wire, accepts).map_err(|text| refuse(at, text)))
        .collect()
}

/// Whether a prompt is the command to shorten the conversation, and nothing
/// else.
pub(crate) fn is_compact_command(prompt: &[ContentBlock]) -> bool {
    matches!(prompt, [ContentBlock::Text(text)] if text.text == "/compact")
}

fn refuse(at: usize, text: &str) -> Fault {
    fault::invalid_params(fault::PROMPT, &format!("prompt[{at}]: {text}"))
}

fn block(block: ContentBlock, accepts: PromptContent) -> Result<Block, &'static str> {
    match block {
        ContentBlock::Text(text) => Ok(Block::Text(text.text)),
        ContentBlock::ResourceLink(link) => {
            let mut host = ResourceLink::new(link.uri, link.name);
            host.title = link.title;
            host.description = link.description;
            host.media_type = link.mime_type;
            host.size = link.size.and_then(|size| u64::try_from(size).ok());
            Ok(Block::Link(host))
        }
        ContentBlock::Image(image) if accepts.image => {
            let mut media = Media::new(image.mime_type, image.data);
            media.uri = image.uri;
            Ok(Block::Image(media))
        }
        ContentBlock::Audio(audio) if accepts.audio => {
            Ok(Block::Audio(Media::new(audio.mime_type, audio.data)))
        }
        ContentBlock::Resource(embedded) if accepts.resource => resource(embedded.resource),
        ContentBlock::Image(_) => Err("this agent takes no images"),
        ContentBlock::Audio(_) => Err("this agent takes no audio"),
        ContentBlock::Resource(_) => Err("this agent takes no embedded resources"),
        _ => Err("this kind of content is not known"),
    }
}

fn resource(resource: EmbeddedResourceResource) -> Result<Block, &'static str> {
    let (mut host, media_type) = match resource {
        EmbeddedResourceResource::TextResourceContents(contents) => (
            Resource::text(contents.uri, contents.text),
            contents.mime_type,
        ),
        EmbeddedResourceResource::BlobResourceContents(contents) => (
            Resource::base64(contents.uri, contents.blob),
            contents.mime_type,
        ),
        _ => return Err("this kind of resource is not known"),
    };
    host.media_type = media_type;
    Ok(Block::Resource(host))
}
