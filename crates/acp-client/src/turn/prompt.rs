//! What a turn is asked.

use acp_protocol::v1::{AgentCapabilities, ContentBlock};

use crate::error::ClientError;

/// The content of a prompt; a string is one.
///
/// ```
/// use acp_client::PromptBlocks;
/// use acp_protocol::v1::ContentBlock;
///
/// let asked: PromptBlocks = "What does this crate do?".into();
/// let more: PromptBlocks = vec![ContentBlock::text("Compare"), ContentBlock::text("these two")].into();
/// # drop((asked, more));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PromptBlocks(Vec<ContentBlock>);

impl PromptBlocks {
    /// Checks that there is something in it and that the agent takes it (R107).
    pub(crate) fn check(&self, agent: &AgentCapabilities) -> Result<(), ClientError> {
        let takes = &agent.prompt_capabilities;
        if self.0.is_empty() {
            return Err(ClientError::EmptyPrompt);
        }
        for block in &self.0 {
            let missing = match block {
                ContentBlock::Image(_) if !takes.image => "promptCapabilities.image",
                ContentBlock::Audio(_) if !takes.audio => "promptCapabilities.audio",
                ContentBlock::Resource(_) if !takes.embedded_context => {
                    "promptCapabilities.embeddedContext"
                }
                _ => continue,
            };
            return Err(ClientError::Unsupported {
                capability: missing,
            });
        }
        Ok(())
    }

    pub(crate) fn into_blocks(self) -> Vec<ContentBlock> {
        self.0
    }
}

impl From<Vec<ContentBlock>> for PromptBlocks {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self(blocks)
    }
}

impl From<ContentBlock> for PromptBlocks {
    fn from(block: ContentBlock) -> Self {
        Self(vec![block])
    }
}

impl From<String> for PromptBlocks {
    fn from(text: String) -> Self {
        Self(vec![ContentBlock::text(text)])
    }
}

impl From<&str> for PromptBlocks {
    fn from(text: &str) -> Self {
        Self(vec![ContentBlock::text(text)])
    }
}
