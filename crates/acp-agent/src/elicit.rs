//! Forms and addresses on the wire: what is asked, and which answers count.

use std::collections::BTreeMap;

use acp_host::{
    FieldKind, Form, FormField, FormValue, Gate, GateAnswer, GateId, GateKind, OpenUrl, ToolId,
};
use acp_protocol::v1::{
    BooleanPropertySchema, CreateElicitationRequest, ElicitationContentValue, ElicitationFormMode,
    ElicitationPropertySchema, ElicitationSchema, ElicitationSessionScope, ElicitationUrlMode,
    EnumOption, SessionId, StringPropertySchema,
};

/// Asks the user some questions.
pub(crate) fn form_request(
    session: &SessionId,
    gate: &Gate,
    form: &Form,
    tool: Option<&ToolId>,
) -> CreateElicitationRequest {
    let mut schema = ElicitationSchema::new();
    schema.description.clone_from(&gate.body);
    let mut required = Vec::new();
    for field in &form.fields {
        schema
            .properties
            .insert(field.name.clone(), property(field));
        if field.is_required {
            required.push(field.name.clone());
        }
    }
    schema.required = Some(required);
    let mode = ElicitationFormMode::new(schema, scope(session, tool));
    CreateElicitationRequest::new(message(gate), mode)
}

/// Sends the user to an address.
pub(crate) fn url_request(
    session: &SessionId,
    gate: &Gate,
    url: &OpenUrl,
    tool: Option<&ToolId>,
) -> CreateElicitationRequest {
    let id = address_id(session, &gate.id);
    let mode = ElicitationUrlMode::new(id, url.url.as_str(), scope(session, tool));
    CreateElicitationRequest::new(message(gate), mode)
}

/// The name under which the client hears of an address: gates are unique in
/// their session, sessions on their connection.
pub(crate) fn address_id(session: &SessionId, gate: &GateId) -> String {
    format!("{session}:{gate}")
}

fn scope(session: &SessionId, tool: Option<&ToolId>) -> ElicitationSessionScope {
    let mut scope = ElicitationSessionScope::new(session);
    scope.tool_call_id = tool.map(|tool| tool.to_shared().into());
    scope
}

fn message(gate: &Gate) -> String {
    let title = gate.title.clone();
    title.unwrap_or_else(|| "Please answer.".to_owned())
}

fn property(field: &FormField) -> ElicitationPropertySchema {
    let (title, description) = (Some(field.title.clone()), field.description.clone());
    if let FieldKind::Confirm = field.kind {
        let mut schema = BooleanPropertySchema::new();
        (schema.title, schema.description) = (title, description);
        schema.default = match field.default {
            Some(FormValue::Flag(flag)) => Some(flag),
            _ => None,
        };
        return schema.into();
    }
    let mut schema = StringPropertySchema::new();
    (schema.title, schema.description) = (title, description);
    schema.default = field
        .default
        .as_ref()
        .and_then(FormValue::as_text)
        .map(str::to_owned);
    match &field.kind {
        FieldKind::Select { options } => {
            let options = options
                .iter()
                .map(|option| EnumOption::new(option.id.as_str(), option.title.as_str()));
            schema.one_of = Some(options.collect());
        }
        // Bytes are no fewer than characters, so this is a hint; the answer is
        // checked again.
        _ => schema.max_length = u32::try_from(Form::MAX_ANSWER_BYTES).ok(),
    }
    schema.into()
}

/// What an accepted form or address means, if the answer fits.
pub(crate) fn accepted(
    gate: &Gate,
    content: impl IntoIterator<Item = (String, ElicitationContentValue)>,
) -> Option<GateAnswer> {
    match &gate.kind {
        GateKind::OpenUrl { .. } => Some(GateAnswer::Opened),
        GateKind::Form { form, .. } => {
            let values: Option<BTreeMap<_, _>> = content
                .into_iter()
                .map(|(name, value)| Some((name, form_value(value)?)))
                .collect();
            let values = values?;
            form.check_answer(&values).ok()?;
            Some(GateAnswer::Form(values))
        }
        _ => None,
    }
}

fn form_value(value: ElicitationContentValue) -> Option<FormValue> {
    match value {
        ElicitationContentValue::String(text) => Some(FormValue::Text(text)),
        ElicitationContentValue::Boolean(flag) => Some(FormValue::Flag(flag)),
        _ => None,
    }
}
