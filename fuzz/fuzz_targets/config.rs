//! Any text as a file of the configuration.
//!
//! The configuration belongs to a program, which no crate can depend on, and its modules
//! find each other from the root. So they are included here as `main.rs` declares them.
#![no_main]
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "of the program only its configuration is used"
)]
#![allow(
    unfulfilled_lint_expectations,
    reason = "the program's exceptions are from crates/clippy.toml, which does not reach here"
)]

#[path = "../../crates/acp-cli/src/agent/mod.rs"]
mod agent;
#[path = "../../crates/acp-cli/src/args.rs"]
mod args;
#[path = "../../crates/acp-cli/src/commands/mod.rs"]
mod commands;
#[path = "../../crates/acp-cli/src/config/mod.rs"]
mod config;
#[path = "../../crates/acp-cli/src/exit.rs"]
mod exit;
#[path = "../../crates/acp-cli/src/outcome/mod.rs"]
mod outcome;
#[path = "../../crates/acp-cli/src/run/mod.rs"]
mod run;
#[path = "../../crates/acp-cli/src/sessions/mod.rs"]
mod sessions;
#[path = "../../crates/acp-cli/src/show/mod.rs"]
mod show;
#[path = "../../crates/acp-cli/src/table.rs"]
mod table;
#[path = "../../crates/acp-cli/src/values.rs"]
mod values;

libfuzzer_sys::fuzz_target!(|text: &[u8]| config::check::check(text));
