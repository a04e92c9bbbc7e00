//! What concerns a session as a whole, on the wire.

use acp_host::{Compaction, CompactionStatus, Notice, NoticeSeverity, SlashCommand};
use acp_protocol::{
    Patch,
    v1::{self, SessionUpdate},
};

pub(crate) fn command(command: SlashCommand) -> v1::AvailableCommand {
    let mut wire = v1::AvailableCommand::new(command.name, command.description);
    wire.input = command
        .hint
        .map(|hint| v1::UnstructuredCommandInput::new(hint).into());
    wire
}

pub(crate) fn notice(notice: Notice) -> v1::Notice {
    let severity = match notice.severity {
        NoticeSeverity::Warning => v1::NoticeSeverity::Warning,
        NoticeSeverity::Error => v1::NoticeSeverity::Error,
        NoticeSeverity::Info => v1::NoticeSeverity::Info,
    };
    let mut wire = v1::Notice::new(severity, notice.title);
    wire.description = notice.description;
    wire
}

/// The progress of a compaction, or a piece of its summary.
pub(crate) fn compaction(compaction: Compaction) -> SessionUpdate {
    let (status, summary, error) = match compaction.status {
        CompactionStatus::Summary(block) => {
            return v1::CompactionSummaryChunk::new(compaction.id, super::block(block)).into();
        }
        CompactionStatus::InProgress => (v1::CompactionStatus::InProgress, Vec::new(), None),
        CompactionStatus::Completed(summary) => (v1::CompactionStatus::Completed, summary, None),
        CompactionStatus::Failed(error) => (v1::CompactionStatus::Failed, Vec::new(), error),
        CompactionStatus::Cancelled => (v1::CompactionStatus::Cancelled, Vec::new(), None),
    };
    let mut wire = v1::CompactionUpdate::new(compaction.id, status);
    if !summary.is_empty() {
        wire.summary = Patch::Set(summary.into_iter().map(super::block).collect());
    }
    wire.error = error.map_or(Patch::Keep, Patch::Set);
    wire.into()
}
