//! Logging in by a code that is entered on a web page.

use acp_client::Launch;
use acp_harness::login::{DeviceCommand, LoginError, Logins};
use acp_harness::registry::Registry;

use super::say;
use crate::agent::Agent;
use crate::exit::Exit;
use crate::outcome::Outcome;
use crate::show::one_line;
use acp_text::Clean;

/// Runs the agent's login command, shows what is to be done, and waits until it is.
pub(super) async fn log_in(registry: &Registry, agent: &Agent) -> Result<(), Outcome> {
    let entry = &agent.entry;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let programs = registry.find(entry, path);
    let command = entry.login.device.split_first();
    let found = command
        .zip(programs.ok())
        .and_then(|((program, args), programs)| Some((programs.get(program)?.to_owned(), args)));
    let Some((program, args)) = found else {
        return Err(Outcome::usage(
            format!("{} has no login by a code", entry.name),
            &format!("acp login {} --list shows its ways", entry.name),
        ));
    };
    let launch = Launch::new(program)
        .with_args(args)
        .with_environment(agent.launch.environment().clone());
    let mut command = DeviceCommand::new(launch).on_terminal();
    if let Some(shape) = &entry.login.device_code {
        command = command.with_shape(shape);
    }
    let login = Logins::new().begin("user", &entry.name, command);
    let login = login.map_err(|error| failed(&error))?;
    say("asking for a code");
    let challenge = login.challenge().await.map_err(|error| failed(&error))?;
    say(&format!(
        "open {} and enter {}",
        Clean::visible(&challenge.url),
        one_line(&challenge.code)
    ));
    say("waiting until you have; Ctrl-C gives up");
    login.end().await.map_err(|error| failed(&error))?;
    Ok(())
}

/// Says how a login failed.
pub(super) fn failed(error: &LoginError) -> Outcome {
    let (exit, hint) = match error {
        LoginError::NoCommand { .. } | LoginError::Spawn(_) => {
            (Exit::StartFailed, "see that the agent is installed")
        }
        LoginError::NoCode { .. } | LoginError::NotEntered { .. } | LoginError::TimedOut { .. } => {
            (Exit::TimedOut, "try again")
        }
        LoginError::Cancelled | LoginError::Replaced => (Exit::Cancelled, "try again"),
        _ => (
            Exit::AuthRequired,
            "log in with the agent's own program, which says more",
        ),
    };
    Outcome::failed(exit, error).with_hint(hint)
}
