//! The forms of agents that a fuzzer once found to be read wrongly stay found without one.

#[path = "checks/form.rs"]
mod form;
#[path = "../../acp-text/tests/checks/found.rs"]
mod found;

#[test]
fn forms_of_agents() {
    found::check_each("form", form::check);
}
