//! Content blocks.

use crate::v1::{
    ContentBlock, ContentChunk, EmbeddedResource, ImageContent, ResourceLink, TextContent,
};

impl ContentBlock {
    /// Makes a block of text.
    ///
    /// ```
    /// use acp_protocol::v1::ContentBlock;
    ///
    /// assert_eq!(ContentBlock::text("hello").as_text(), Some("hello"));
    /// ```
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// Makes an image of base64 data.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        ImageContent::new(data, mime_type).into()
    }

    /// Makes a link to a resource.
    pub fn resource_link(name: impl Into<String>, uri: impl Into<String>) -> Self {
        ResourceLink::new(name, uri).into()
    }

    /// Makes a resource with its content.
    pub fn resource(resource: EmbeddedResource) -> Self {
        resource.into()
    }

    /// Returns the text of a block of text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl ContentChunk {
    /// Makes a chunk of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(ContentBlock::text(text))
    }

    /// Returns the text of a chunk of text.
    pub fn as_text(&self) -> Option<&str> {
        self.content.as_text()
    }
}
