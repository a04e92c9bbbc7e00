//! The ways to log in to an agent.

use std::fmt::Write as _;

use acp_harness::registry::{AgentEntry, Registry};
use acp_protocol::v1::AuthMethod;
use acp_text::Clean;

use super::ours;
use crate::outcome::Outcome;
use crate::show::one_line;

/// All ways there are, in the order in which they are shown.
pub(super) struct Methods {
    ways: Vec<LoginWay>,
}

/// One way to log in.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum LoginWay {
    /// A method that the agent tells of.
    Own(AuthMethod),
    /// A code that is entered on a web page.
    Device,
    /// A key that is stored.
    Key,
}

impl Methods {
    /// Gathers what the agent tells of and what its entry knows.
    pub(super) fn of(registry: &Registry, entry: &AgentEntry, offered: &[AuthMethod]) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        // A method of a kind that nobody has heard of is no way for this version.
        let own = offered.iter().filter(|method| id_of(method).is_some());
        let mut ways: Vec<_> = own.cloned().map(LoginWay::Own).collect();
        if !entry.login.device.is_empty() && registry.find(entry, path).is_ok() {
            ways.push(LoginWay::Device);
        }
        if !entry.login.keys.is_empty() {
            ways.push(LoginWay::Key);
        }
        Self { ways }
    }

    /// Lists them for a person.
    pub(super) fn list(&self, entry: &AgentEntry) -> String {
        let name = &entry.name;
        if self.ways.is_empty() {
            return format!(
                "{name} tells of no way to log in: it may need none{}",
                hint(entry)
            );
        }
        let mut text = format!("ways to log in to {name}:");
        for way in &self.ways {
            let (how, what) = way.described(entry);
            let _ = write!(text, "\n  acp login {name} {how}\n      {what}");
        }
        if !entry.login.hint.is_empty() {
            let _ = write!(text, "\nor outside of acp: {}", entry.login.hint);
        }
        text
    }

    /// Finds the method that the agent calls so.
    pub(super) fn called(&self, entry: &AgentEntry, id: &str) -> Result<LoginWay, Outcome> {
        let mut ways = self.ways.iter();
        let found =
            ways.find(|way| matches!(way, LoginWay::Own(method) if id_of(method) == Some(id)));
        found.cloned().ok_or_else(|| {
            Outcome::usage(
                format!("{} has no login method {}", entry.name, one_line(id)),
                &self.list(entry),
            )
        })
    }

    /// Takes the only one, or lets a person choose who sits in front of a terminal.
    pub(super) async fn choose(&self, entry: &AgentEntry, asks: bool) -> Result<LoginWay, Outcome> {
        match self.ways.as_slice() {
            [] => Err(Outcome::usage(
                format!("{} tells of no way to log in", entry.name),
                &format!(
                    "it may need none; acp doctor {} tells{}",
                    entry.name,
                    hint(entry)
                ),
            )),
            [way] => Ok(way.clone()),
            _ if !asks => Err(Outcome::usage(
                format!("{} has several ways to log in", entry.name),
                &self.list(entry),
            )),
            ways => {
                // Who cannot see it does not choose.
                let _ = crate::show::ask(&Clean::new(&self.menu(entry)));
                let typed = ours::read_choice().await.unwrap_or_default();
                let number = typed.trim().parse::<usize>().ok();
                let way = number.and_then(|number| ways.get(number.checked_sub(1)?));
                way.cloned().ok_or_else(|| {
                    let message = "no way to log in was chosen".to_owned();
                    Outcome::usage(message, "choose one by its number")
                })
            }
        }
    }

    fn menu(&self, entry: &AgentEntry) -> String {
        let mut text = format!("ways to log in to {}:\n", entry.name);
        for (at, way) in self.ways.iter().enumerate() {
            let _ = writeln!(text, "{:>4}  {}", at + 1, way.described(entry).1);
        }
        text.push_str("number: ");
        text
    }
}

impl LoginWay {
    /// Says how it is asked for, and what it is.
    fn described(&self, entry: &AgentEntry) -> (String, String) {
        match self {
            Self::Key => {
                let variables = entry.login.keys.join(" or ");
                let what = format!("store a key, as {variables} would hold it");
                ("--key".to_owned(), what)
            }
            Self::Device => {
                let what = "enter a code on a web page, on any device".to_owned();
                ("--device-code".to_owned(), what)
            }
            Self::Own(method) => {
                let (name, about, how) = match method {
                    AuthMethod::Agent(own) => (&own.name, &own.description, ""),
                    AuthMethod::Terminal(own) => {
                        (&own.name, &own.description, " (here, on this terminal)")
                    }
                    _ => return Default::default(),
                };
                let mut what = one_line(name).into_string();
                what.push_str(how);
                if let Some(about) = about.as_deref().filter(|about| *about != name.as_str()) {
                    let _ = write!(what, ": {}", one_line(about));
                }
                let id = one_line(id_of(method).unwrap_or_default());
                (format!("--method {id}"), what)
            }
        }
    }
}

fn id_of(method: &AuthMethod) -> Option<&str> {
    match method {
        AuthMethod::Agent(method) => Some(method.id.as_str()),
        AuthMethod::Terminal(method) => Some(method.id.as_str()),
        _ => None,
    }
}

fn hint(entry: &AgentEntry) -> String {
    match entry.login.hint.as_str() {
        "" => String::new(),
        hint => format!("; outside of acp: {hint}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    fn offered() -> Vec<AuthMethod> {
        let methods = json!([
            {"id": "chat", "name": "Sign in with Chat", "description": "In a browser\u{1b}[2J"},
            {"id": "tty", "name": "Sign in here", "type": "terminal", "args": ["login"]},
            {"id": "later", "name": "Later", "type": "telepathy"},
        ]);
        serde_json::from_value(methods).unwrap()
    }

    fn entry() -> AgentEntry {
        let mut entry = AgentEntry::new("ada", "sh");
        entry.login.keys = vec!["ADA_KEY".to_owned()];
        entry.login.device = vec!["sh".to_owned()];
        entry.login.hint = "ada login".to_owned();
        entry
    }

    #[test]
    fn every_way_is_listed_with_its_command() {
        let (offered, entry) = (offered(), entry());
        let methods = Methods::of(Registry::builtin(), &entry, &offered);
        expect![[r#"
            ways to log in to ada:
              acp login ada --method chat
                  Sign in with Chat: In a browser
              acp login ada --method tty
                  Sign in here (here, on this terminal)
              acp login ada --device-code
                  enter a code on a web page, on any device
              acp login ada --key
                  store a key, as ADA_KEY would hold it
            or outside of acp: ada login"#]]
        .assert_eq(&methods.list(&entry));
        expect![[r#"
            ways to log in to ada:
               1  Sign in with Chat: In a browser
               2  Sign in here (here, on this terminal)
               3  enter a code on a web page, on any device
               4  store a key, as ADA_KEY would hold it
            number: "#]]
        .assert_eq(&methods.menu(&entry));
        let none = AgentEntry::new("eve", "sh");
        let methods = Methods::of(Registry::builtin(), &none, &[]);
        assert_eq!(
            methods.list(&none),
            "eve tells of no way to log in: it may need none"
        );
    }

    #[tokio::test]
    async fn nothing_is_guessed() {
        let (offered, entry) = (offered(), entry());
        let methods = Methods::of(Registry::builtin(), &entry, &offered);
        assert_eq!(
            methods.called(&entry, "tty"),
            Ok(LoginWay::Own(offered[1].clone()))
        );
        let refused = methods.called(&entry, "later").unwrap_err();
        assert_eq!(refused.exit, crate::exit::Exit::Usage);
        let refused = methods.choose(&entry, false).await.unwrap_err();
        assert_eq!(
            refused.failure.unwrap().message,
            "ada has several ways to log in"
        );
        let only = AgentEntry::new("eve", "sh");
        let methods = Methods::of(Registry::builtin(), &only, &offered[..1]);
        assert_eq!(
            methods.choose(&only, false).await,
            Ok(LoginWay::Own(offered[0].clone()))
        );
    }
}
