//! What prompts and messages are made of.

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

/// One piece of a prompt or of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Block {
    /// Text.
    Text(String),
    /// Text in which the model declined.
    Refusal(String),
    /// Thoughts of the model.
    Thinking(String),
    /// A picture.
    Image(Media),
    /// Sound.
    Audio(Media),
    /// A pointer to something that the agent can read by itself.
    Link(ResourceLink),
    /// Something that came along in full.
    Resource(Resource),
}

impl Block {
    /// Makes a block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The text, if this is a block of text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// A picture or a sound.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Setters)]
#[setters(prefix = "with_", into, strip_option)]
pub struct Media {
    /// What it is, such as `image/png`.
    pub media_type: String,
    /// The bytes in base64, as clients send and models take them.
    pub base64: String,
    /// Where it comes from.
    pub uri: Option<String>,
}

impl Media {
    /// Takes a medium whose bytes are base64 already.
    pub fn new(media_type: impl Into<String>, base64: impl Into<String>) -> Self {
        Self {
            media_type: media_type.into(),
            base64: base64.into(),
            uri: None,
        }
    }
}

impl std::fmt::Debug for Media {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Media")
            .field("media_type", &self.media_type)
            .field("base64_bytes", &self.base64.len())
            .field("uri", &self.uri)
            .finish()
    }
}

/// A pointer to something that the agent can read by itself, a file most often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", into, strip_option)]
pub struct ResourceLink {
    /// Where it is, such as `file:///home/ada/notes.md`.
    pub uri: String,
    /// What the user calls it.
    pub name: String,
    /// A title for display.
    pub title: Option<String>,
    /// What it is about.
    pub description: Option<String>,
    /// What it is, such as `text/markdown`.
    pub media_type: Option<String>,
    /// How many bytes it has.
    #[setters(into = false)]
    pub size: Option<u64>,
}

impl ResourceLink {
    /// Points to an address under a name.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            media_type: None,
            size: None,
        }
    }
}

/// Something that came along with a prompt in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Setters)]
#[setters(prefix = "with_", into, strip_option)]
pub struct Resource {
    /// Where it comes from.
    pub uri: String,
    /// What it is, such as `text/x-rust`.
    pub media_type: Option<String>,
    /// What it holds.
    pub body: ResourceBody,
}

/// What an embedded resource holds.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Bytes, in base64.
    Base64(String),
}

impl std::fmt::Debug for ResourceBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Base64(text) => write!(f, "Base64({} bytes)", text.len()),
        }
    }
}

impl Resource {
    /// Takes text that came from an address.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            media_type: None,
            body: ResourceBody::Text(text.into()),
        }
    }

    /// Takes bytes (in base64) that came from an address.
    pub fn base64(uri: impl Into<String>, base64: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            media_type: None,
            body: ResourceBody::Base64(base64.into()),
        }
    }
}

/// Which pieces of a prompt an agent can use, besides text and links.
///
/// Every agent takes text and links; the rest is refused unless it is named
/// here, and named here it is advertised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", bool)]
pub struct PromptContent {
    /// Pictures.
    pub image: bool,
    /// Sound.
    pub audio: bool,
    /// Resources that come along in full.
    pub resource: bool,
}

impl PromptContent {
    /// Takes text and links only.
    pub fn new() -> Self {
        Self::default()
    }
}
