//! Scenarios that a fuzzer once found to be read wrongly stay found without one.

#[path = "../../acp-text/tests/checks/found.rs"]
mod found;
#[path = "checks/scenario.rs"]
mod scenario;

#[test]
fn scenarios() {
    found::check_each("scenario", scenario::check);
}
