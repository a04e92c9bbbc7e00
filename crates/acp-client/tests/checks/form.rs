//! Any form of an agent with any answer: no panic, and field by field says what the whole says.

use acp_client::ElicitationAnswer;
use acp_client::elicitation::{ElicitationForm, FieldError};
use acp_protocol::v1::{ElicitationContentValue, ElicitationSchema};

/// Reads the first line as a form, and the second as the content of an answer.
///
/// # Panics
///
/// When the form and its fields judge an answer differently.
pub(crate) fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let (form, content) = text.split_once('\n').unwrap_or((text, "{}"));
    let Ok(schema) = serde_json::from_str::<ElicitationSchema>(form) else {
        return;
    };
    let form = ElicitationForm::new(&schema);
    let proposed = form.defaults();
    judge(form, &proposed);
    let content = serde_json::from_str::<Vec<(String, ElicitationContentValue)>>(content);
    let filled = content
        .unwrap_or_default()
        .into_iter()
        .fold(proposed, |answer, (name, value)| answer.with(name, value));
    judge(form, &filled);
    let declined = ElicitationAnswer::decline();
    assert!(form.check(&declined).is_ok(), "a refusal fits every form");
}

fn judge(form: ElicitationForm<'_>, answer: &ElicitationAnswer) {
    let faults = form.check(answer).err().unwrap_or_default();
    for (name, _) in answer.fields() {
        let alone = form.check_field(answer, name).err();
        let mut of_field = faults.iter().filter(|fault| fault.field == name);
        match alone {
            Some(misfit) => assert!(of_field.any(|fault| fault.misfit == misfit), "{name}"),
            None => assert!(
                of_field.all(|fault| fault.misfit == FieldError::UnknownKind),
                "{name}"
            ),
        }
    }
    let known: Vec<&str> = form.fields().map(|(name, _)| name).collect();
    if form.is_answerable() {
        let required = form.schema().required.iter().flatten();
        for name in required {
            assert!(known.contains(&name.as_str()), "{name} can be shown");
        }
    }
    for fault in faults {
        assert!(!fault.to_string().contains('\n'), "an error is one line");
    }
}
