//! What is tried with each peer, by name.

/// Something that is tried with a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) name: &'static str,
    /// What it shows, in a line.
    pub(super) shows: &'static str,
}

/// What our client does with an agent of another hand, besides `acp run`.
pub(super) fn of_agents() -> Vec<Check> {
    read(include_str!("../../../tests/interop/checks/agents.txt"))
}

/// What a client of another hand does with the demo agent.
pub(super) fn of_clients() -> Vec<Check> {
    read(include_str!("../../../tests/interop/checks/clients.txt"))
}

/// Reads lines of `NAME: WHAT IT SHOWS`.
fn read(lines: &'static str) -> Vec<Check> {
    let lines = lines.lines().filter(|line| !line.starts_with('#'));
    let check = lines.filter_map(|line| line.split_once(": "));
    check.map(|(name, shows)| Check { name, shows }).collect()
}

/// Finds out whether a check of that name is among these.
pub(super) fn knows(checks: &[Check], name: &str) -> bool {
    checks.iter().any(|check| check.name == name)
}
