//! Bounds on what an agent sends: a refusal names the member.

use acp_protocol::rpc::Fault;

/// Checks the length of a text in bytes.
///
/// # Errors
///
/// -32602 that names the member and both lengths, and nothing of the text.
pub(crate) fn within(member: &str, text: &str, max: usize) -> Result<(), Fault> {
    count_within(member, text.len(), max, "bytes")
}

/// Checks a number of bytes, or of other units.
///
/// # Errors
///
/// As [`within`].
pub(crate) fn count_within(
    member: &str,
    count: usize,
    max: usize,
    unit: &str,
) -> Result<(), Fault> {
    match count <= max {
        true => Ok(()),
        false => Err(Fault::invalid_params(format!(
            "{member} has {count} {unit}; at most {max} are taken"
        ))),
    }
}
