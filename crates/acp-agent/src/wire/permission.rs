//! Permission requests on the wire.

use acp_host::{Control, Gate, PermissionAction, ToolCall, ToolContent};
use acp_protocol::{
    RawJson,
    v1::{
        PermissionOption, PermissionOptionKind, RequestPermissionRequest, SessionId,
        ToolCallStatus, ToolCallUpdate,
    },
};

use super::{locations, tool_contents, tool_kind};

/// Asks the user whether a tool may run.
pub(crate) fn request(
    session: &SessionId,
    gate: &Gate,
    tool: &ToolCall,
    controls: &[Control],
) -> RequestPermissionRequest {
    let mut update = ToolCallUpdate::new(tool.id.to_shared());
    update.title = Some(gate.title.clone().unwrap_or_else(|| tool.title.clone()));
    update.name = Some(tool.name.clone());
    update.kind = Some(tool_kind(tool.kind));
    update.status = Some(ToolCallStatus::Pending);
    let body = gate.body.iter().map(ToolContent::text);
    let content: Vec<_> = body.chain(tool.content.iter().cloned()).collect();
    update.content = (!content.is_empty()).then(|| tool_contents(content));
    update.locations = (!tool.locations.is_empty()).then(|| locations(tool.locations.clone()));
    let input = tool.input.clone();
    update.raw_input = input.map(|input| RawJson::from(input.into_raw()));
    RequestPermissionRequest::new(session, update, controls.iter().map(option))
}

fn option(control: &Control) -> PermissionOption {
    let kind = match control.action {
        PermissionAction::Approve => PermissionOptionKind::AllowOnce,
        PermissionAction::ApproveAlways => PermissionOptionKind::AllowAlways,
        PermissionAction::Deny => PermissionOptionKind::RejectOnce,
    };
    let word = control.action.as_str();
    let name = match &*control.label {
        "" => word,
        label => label,
    };
    PermissionOption::new(word, name, kind)
}
