//! What a turn answers.

use acp_host::Block;

/// What the user asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    blocks: Vec<Block>,
}

impl Prompt {
    pub(in crate::kit) fn new(blocks: Vec<Block>) -> Self {
        Self { blocks }
    }

    /// The pieces of the prompt, in order: text, links, and whatever else the
    /// agent accepts.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The pieces of the prompt, to keep.
    pub fn into_blocks(self) -> Vec<Block> {
        self.blocks
    }

    /// All text of the prompt; pieces stand on lines of their own.
    pub fn text(&self) -> String {
        self.blocks
            .iter()
            .filter_map(Block::as_text)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

#[cfg(test)]
mod tests {
    use acp_host::ResourceLink;

    use super::*;

    #[test]
    fn text_is_what_is_text() {
        let link = Block::Link(ResourceLink::new("file:///notes.md", "notes.md"));
        let prompt = Prompt::new(vec![Block::text("read"), link, Block::text("please")]);
        assert_eq!(prompt.text(), "read\nplease");
        assert_eq!(Prompt::new(vec![]).text(), "");
    }
}
