//! Logging in with the agent's own program, on this terminal.

use std::io::IsTerminal;

use acp_client::Launch;
use acp_harness::login::TerminalLogin;
use acp_protocol::v1::AuthMethodTerminal;

use super::device::failed;
use super::ours::Raw;
use crate::outcome::Outcome;

/// Runs it; what is typed goes to it as it is, and what it shows comes through.
pub(super) async fn log_in(launch: &Launch, method: &AuthMethodTerminal) -> Result<(), Outcome> {
    if !std::io::stdin().is_terminal() || !acp_process::stdio::stdout_is_terminal() {
        return Err(Outcome::usage(
            "this login needs a terminal".to_owned(),
            "run acp login where you can type, and see what it writes",
        ));
    }
    let mut login = TerminalLogin::new(launch, method);
    if let Some((width, height)) = terminal_size::terminal_size() {
        login = login.with_size(acp_harness::login::TerminalSize::new(width.0, height.0));
    }
    let raw = Raw::begin()?;
    #[expect(
        clippy::disallowed_methods,
        reason = "the person runs the agent's program on this terminal, which is its own meanwhile"
    )]
    let end = login.run(tokio::io::stdin(), tokio::io::stdout()).await;
    drop(raw);
    end.map(|_| ()).map_err(|error| failed(&error))
}
