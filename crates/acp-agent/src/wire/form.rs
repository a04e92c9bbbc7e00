//! Forms and addresses on the wire: what is asked, and which answers count.

use std::collections::BTreeMap;

use acp_host::{
    FieldKind, FormField, FormOption, FormValue, Gate, GateAnswer, GateId, GateKind, OpenUrl,
    TextFormat, ToolId, UserForm,
};
use acp_protocol::v1::{
    BooleanPropertySchema, CreateElicitationRequest, ElicitationContentValue, ElicitationFormMode,
    ElicitationPropertySchema, ElicitationSchema, ElicitationSessionScope, ElicitationUrlMode,
    EnumOption, IntegerPropertySchema, MultiSelectPropertySchema, NumberPropertySchema, SessionId,
    StringFormat, StringPropertySchema, TitledMultiSelectItems,
};

/// Asks the user some questions.
pub(crate) fn form_request(
    session: &SessionId,
    gate: &Gate,
    form: &UserForm,
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
    let default = field.default.as_ref();
    match &field.kind {
        FieldKind::Confirm => {
            let mut schema = BooleanPropertySchema::new();
            (schema.title, schema.description) = (title, description);
            schema.default = match default {
                Some(FormValue::Flag(flag)) => Some(*flag),
                _ => None,
            };
            schema.into()
        }
        FieldKind::Integer { min, max } => {
            let mut schema = IntegerPropertySchema::new();
            (schema.title, schema.description) = (title, description);
            (schema.minimum, schema.maximum) = (*min, *max);
            schema.default = match default {
                Some(FormValue::Integer(number)) => Some(*number),
                _ => None,
            };
            schema.into()
        }
        FieldKind::Number { min, max } => {
            let mut schema = NumberPropertySchema::new();
            (schema.title, schema.description) = (title, description);
            (schema.minimum, schema.maximum) = (*min, *max);
            schema.default = match default {
                Some(FormValue::Integer(number)) => Some(*number as f64),
                Some(FormValue::Number(number)) => Some(*number),
                _ => None,
            };
            schema.into()
        }
        FieldKind::MultiSelect { options, min, max } => {
            let items = TitledMultiSelectItems::new(options.iter().map(option));
            let mut schema = MultiSelectPropertySchema::new(items);
            (schema.title, schema.description) = (title, description);
            (schema.min_items, schema.max_items) = (min.map(Into::into), max.map(Into::into));
            schema.default = match default {
                Some(FormValue::Choices(chosen)) => Some(chosen.clone()),
                _ => None,
            };
            schema.into()
        }
        kind => {
            let mut schema = StringPropertySchema::new();
            (schema.title, schema.description) = (title, description);
            schema.default = default.and_then(FormValue::as_text).map(str::to_owned);
            match kind {
                FieldKind::Select { options } => {
                    schema.one_of = Some(options.iter().map(option).collect());
                }
                FieldKind::Text(rule) => {
                    schema.min_length = rule.min_chars;
                    // Bytes are no fewer than characters, so this is a hint; the
                    // answer is checked again.
                    let most = u32::try_from(UserForm::MAX_ANSWER_BYTES).unwrap_or(u32::MAX);
                    schema.max_length = Some(rule.max_chars.map_or(most, |max| max.min(most)));
                    schema.format = rule.format.map(format);
                }
                _ => {}
            }
            schema.into()
        }
    }
}

fn option(option: &FormOption) -> EnumOption {
    let mut wire = EnumOption::new(option.id.as_str(), option.title.as_str());
    wire.description.clone_from(&option.description);
    wire
}

fn format(format: TextFormat) -> StringFormat {
    match format {
        TextFormat::Email => StringFormat::Email,
        TextFormat::Uri => StringFormat::Uri,
        TextFormat::Date => StringFormat::Date,
        TextFormat::DateTime => StringFormat::DateTime,
    }
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
        GateKind::Permission { .. } => None,
    }
}

fn form_value(value: ElicitationContentValue) -> Option<FormValue> {
    match value {
        ElicitationContentValue::String(text) => Some(FormValue::Text(text)),
        ElicitationContentValue::Boolean(flag) => Some(FormValue::Flag(flag)),
        ElicitationContentValue::Integer(number) => Some(FormValue::Integer(number)),
        ElicitationContentValue::Number(number) => Some(FormValue::Number(number)),
        ElicitationContentValue::StringArray(chosen) => Some(FormValue::Choices(chosen)),
        _ => None,
    }
}
