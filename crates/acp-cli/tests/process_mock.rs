//! `acp mock` is the scripted peer: `acp run` drives it like any other agent.
#![cfg(target_os = "linux")]

mod support;

use support::acp_alone;

const ACP: &str = env!("CARGO_BIN_EXE_acp");

#[test]
fn a_mock_agent_is_an_agent() {
    let ended = acp_alone(&["hello", "--", ACP, "mock", "agent"]).end();
    assert_eq!((ended.code, &*ended.out), (Some(0), "Let me look.\n"));
}

#[test]
fn a_mock_agent_does_what_its_environment_says() {
    let run = acp_alone(&["hello", "--", ACP, "mock", "agent"]);
    let ended = run.with_env("ACP_MOCK_EXIT_CODE", "7").end();
    assert_eq!(ended.code, Some(5), "{ended:?}");
    assert!(ended.err.contains('7'), "{ended:?}");
}

#[test]
fn a_setting_nobody_understands_is_told_by_its_own_exit_code() {
    let run = acp_alone(&["hello", "--", ACP, "mock", "agent"]);
    let ended = run.with_env("ACP_MOCK_DIE_AFTER_INIT", "yes").end();
    assert!(ended.err.contains("78"), "{ended:?}");
}
