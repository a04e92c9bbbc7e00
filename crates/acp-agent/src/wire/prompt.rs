//! Prompts as the host reads them.

use acp_host::{Block, Media, PromptContent, Resource, ResourceLink};
use acp_protocol::v1::{ContentBlock, EmbeddedResourceResource};
use data_encoding::BASE64;

use crate::refused::RefusedMember;

/// Takes over a prompt. Text and links are always accepted (R039), the rest
/// only if the agent advertised it.
///
/// # Errors
///
/// Names the block that cannot be used.
pub(crate) fn from_wire(
    prompt: Vec<ContentBlock>,
    accepts: PromptContent,
) -> Result<Vec<Block>, RefusedMember> {
    if prompt.is_empty() {
        let problem = "the prompt is empty";
        return Err(RefusedMember::new("prompt", problem, "at least one block"));
    }
    let blocks = prompt.into_iter().enumerate();
    blocks
        .map(|(at, wire)| {
            block(wire, accepts).map_err(|refused| refused.within(&format!("prompt[{at}]")))
        })
        .collect()
}

/// Whether a prompt is the command to shorten the conversation, and nothing
/// else.
pub(crate) fn is_compact_command(prompt: &[ContentBlock]) -> bool {
    matches!(prompt, [ContentBlock::Text(text)] if text.text == "/compact")
}

fn block(block: ContentBlock, accepts: PromptContent) -> Result<Block, RefusedMember> {
    let refuse = |problem| Err(RefusedMember::new("", problem, accepted(accepts)));
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
            let mut media = Media::new(image.mime_type, base64("data", image.data)?);
            media.uri = image.uri;
            Ok(Block::Image(media))
        }
        ContentBlock::Audio(audio) if accepts.audio => {
            let data = base64("data", audio.data)?;
            Ok(Block::Audio(Media::new(audio.mime_type, data)))
        }
        ContentBlock::Resource(embedded) if accepts.resource => {
            resource(embedded.resource).map_err(|refused| refused.within("resource"))
        }
        ContentBlock::Image(_) => refuse("this agent takes no images"),
        ContentBlock::Audio(_) => refuse("this agent takes no audio"),
        ContentBlock::Resource(_) => refuse("this agent takes no embedded resources"),
        _ => refuse("this kind of content is not known"),
    }
}

/// The kinds of content that a prompt may hold.
fn accepted(accepts: PromptContent) -> String {
    let mut kinds = vec!["text", "a resource link"];
    kinds.extend(accepts.image.then_some("an image"));
    kinds.extend(accepts.audio.then_some("audio"));
    kinds.extend(accepts.resource.then_some("an embedded resource"));
    let last = kinds.pop().unwrap_or_default();
    format!("{} or {last}", kinds.join(", "))
}

fn resource(resource: EmbeddedResourceResource) -> Result<Block, RefusedMember> {
    let (mut host, media_type) = match resource {
        EmbeddedResourceResource::TextResourceContents(contents) => (
            Resource::text(contents.uri, contents.text),
            contents.mime_type,
        ),
        EmbeddedResourceResource::BlobResourceContents(contents) => (
            Resource::base64(contents.uri, base64("blob", contents.blob)?),
            contents.mime_type,
        ),
        _ => {
            let problem = "this kind of resource is not known";
            return Err(RefusedMember::new("", problem, "a text or a blob"));
        }
    };
    host.media_type = media_type;
    Ok(Block::Resource(host))
}

/// Data as the host decodes them: a host that gets something else fails in the middle of
/// its turn, where nobody knows which block was wrong.
fn base64(member: &str, data: String) -> Result<String, RefusedMember> {
    match is_base64(&data) {
        true => Ok(data),
        false => Err(RefusedMember::new(
            member,
            "it is not base64",
            "base64 with padding (RFC 4648, section 4)",
        )),
    }
}

fn is_base64(data: &str) -> bool {
    // Only the last four characters can hold padding, and bits of no byte.
    let Some((whole, last)) = data.as_bytes().split_last_chunk::<4>() else {
        return data.is_empty();
    };
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    whole.len() % 4 == 0 && whole.iter().all(is_plain) && BASE64.decode(last).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_whole_and_padded() {
        for good in ["", "QUJD", "QUI=", "QQ==", "QUJDQUJD", "+/+/QQ=="] {
            assert!(is_base64(good), "{good}");
        }
        for bad in [
            "Q",
            "QQ",
            "QUI",
            "QUJDQ",
            "QR==",
            "QUJ=",
            "Q===",
            "====",
            "QQ==QUJD",
            "QQ==QQ==",
            "-_-_",
            "QU D",
            "QUJD\n",
            "data:image/png;base64,QUJD",
            "ÄÄ",
        ] {
            assert!(!is_base64(bad), "{bad}");
        }
    }
}
