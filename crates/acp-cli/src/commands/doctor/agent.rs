//! Whether the agent is well.

use std::path::Path;

use acp_protocol::v1::{AuthMethod, InitializeResponse};
use serde_json::{Value, json};

use super::report::{Check, Report};
use crate::agent::inquiry::{Answer, Inquiry, LoginState};
use crate::agent::keys::{KeyFound, Keys};
use crate::agent::{Agent, AgentError};
use crate::config::{self, Configuration, Origin};
use crate::outcome::Outcome;
use crate::show::one_line;

/// Asks the chosen agent, and tells what came of it.
pub(super) async fn ask(configuration: &Configuration, cwd: &Path, report: &mut Report) {
    let Ok(cwd) = cwd.canonicalize() else {
        let message = format!("failed to work in {}", cwd.display());
        let outcome = Outcome::usage(message, "--cwd takes a folder that exists");
        return report.push(Check::failed("folder", &outcome));
    };
    let agent = match find(configuration, &cwd, report) {
        Ok(agent) => agent,
        Err(check) => return report.push(check),
    };
    for variable in &agent.left_out {
        report.push(Check::note(
            "environment",
            format!("{variable} is not passed on: it keeps the agent from working"),
        ));
    }
    let inquiry = Inquiry::new(agent, cwd, configuration.settings.start_timeout.value);
    let answer = inquiry.opens().await;
    tell(&answer, inquiry.agent(), report);
    inquiry.end().await;
}

/// Finds the agent, and says why it is this one.
fn find(configuration: &Configuration, cwd: &Path, report: &mut Report) -> Result<Agent, Check> {
    let chosen = &configuration.agent;
    let config::Agent::Known(name) = &chosen.value else {
        let said = "the demo agent is asked, which is built in";
        report.push(match chosen.origin {
            Origin::Default => Check::note("agent", format!("none is chosen; {said}"))
                .next("acp doctor NAME asks another; `agent` in the configuration chooses one"),
            _ => Check::well("agent", said),
        });
        return Agent::demo_agent(cwd).map_err(|error| Check::failed("agent", &error.into()));
    };
    let registry = &configuration.registry;
    let Some(entry) = registry.get(name) else {
        return Err(Check::missing(
            "agent",
            format!("{name} is not known"),
            "acp agents",
        ));
    };
    let model = configuration.settings.model.value.as_ref();
    let agent = Agent::of_entry(registry, entry, model.map(config::Word::as_str), cwd, false)
        .map_err(|error| not_there(name, error))?;
    let by = match &chosen.origin {
        Origin::Flag { .. } => String::new(),
        origin => format!(" (chosen by {origin})"),
    };
    let program = agent.launch.program().display();
    report.push(Check::well("agent", format!("{name}{by}: {program}")));
    let found = Keys::of_user().and_then(|keys| keys.find(entry));
    report.push(match found {
        Ok(KeyFound::Variable(name)) => Check::well("key", format!("in the variable {name}")),
        Ok(KeyFound::Stored) => Check::well("key", "stored by acp login"),
        Ok(KeyFound::None) if entry.login.keys.is_empty() => {
            Check::note("key", "it takes none; its own login counts")
        }
        Ok(KeyFound::None) => Check::note("key", "none; its own login counts, if there is one"),
        Err(error) => Check::note("key", crate::outcome::in_words(&error)),
    });
    Ok(agent)
}

/// Says why an agent cannot be started, and how it is installed.
fn not_there(name: &str, error: AgentError) -> Check {
    match &error {
        AgentError::NotInstalled(error) => {
            let said = format!(
                "{name} needs {}, not found in {:?}",
                error.missing.join(" and "),
                error.search_path
            );
            Check::missing("agent", said, error.install.as_str())
        }
        _ => Check::failed("agent", &error.into()),
    }
}

/// Tells what an agent answered.
fn tell(answer: &Answer, agent: &Agent, report: &mut Report) {
    let name = &agent.entry.name;
    let seconds = answer.took.as_secs_f64();
    if let Some(hello) = &answer.agent {
        let info = hello.agent_info.as_ref();
        let who = info.map_or_else(
            || "it does not say who it is".to_owned(),
            |info| one_line(&format!("{} {}", info.name, info.version)).into_string(),
        );
        report.push(Check::well(
            "answers",
            format!("{who}, protocol {}", hello.protocol_version.0),
        ));
    }
    match (&answer.failure, answer.login) {
        (None, _) => {
            report.push(Check::well(
                "session",
                format!("opens, {seconds:.1} s after the start"),
            ));
            report.push(Check::well(
                "login",
                "none was asked for; only a prompt shows whether its provider agrees",
            ));
        }
        (Some(failure), LoginState::Required) => {
            let check = Check::failed("login", failure);
            let offers = answer
                .agent
                .as_ref()
                .is_some_and(|agent| !agent.auth_methods.is_empty());
            report.push(match offers || !agent.entry.login.keys.is_empty() {
                true => check.next(format!("acp login {name}")),
                false => check,
            });
        }
        (Some(failure), _) => {
            let check = match answer.agent {
                Some(_) => "session",
                None => "answers",
            };
            report.push(Check::failed(check, failure));
        }
    }
    report.agent = json(answer, name);
}

/// What an agent answered, for programs.
fn json(answer: &Answer, name: &str) -> Value {
    let hello = answer.agent.as_deref();
    json!({
        "name": name,
        "info": hello.and_then(|hello| hello.agent_info.as_ref()),
        "protocolVersion": hello.map(|hello| &hello.protocol_version),
        "capabilities": hello.map(|hello| &hello.agent_capabilities),
        "authMethods": hello.map(methods),
        "login": answer.login,
        "modes": answer.modes,
        "configOptions": answer.options,
        "seconds": answer.took.as_secs_f64(),
        "exitCode": answer.exit().code(),
    })
}

/// The ways to log in, without what is to be run for them.
fn methods(hello: &InitializeResponse) -> Vec<Value> {
    let known = hello.auth_methods.iter().filter_map(|method| match method {
        AuthMethod::Agent(method) => Some((&method.id, &method.name, "agent")),
        AuthMethod::Terminal(method) => Some((&method.id, &method.name, "terminal")),
        _ => None,
    });
    known
        .map(|(id, name, kind)| json!({ "id": id, "name": name, "type": kind }))
        .collect()
}
