//! Texts that a fuzzer once found to be cleaned or redacted wrongly stay found without one.

#[path = "checks/clean.rs"]
mod clean;
#[path = "checks/found.rs"]
mod found;
#[path = "checks/redact.rs"]
mod redact;

#[test]
fn redaction() {
    found::check_each("redact", redact::check);
}

#[test]
fn cleaning() {
    found::check_each("clean", clean::check);
}
