//! Policies of environments.
use super::*;

fn environment(all: &[(&str, &str)]) -> Environment {
    Environment::exactly(all.iter().copied()).unwrap()
}

fn shown(environment: &Environment) -> String {
    let all: Vec<_> = environment
        .iter()
        .map(|(name, value)| format!("{}={}", name.display(), value.display()))
        .collect();
    all.join(" ")
}

fn ambient() -> Environment {
    environment(&[
        ("CLAUDECODE", "1"),
        ("GEMINI_API_KEY", "host-gemini"),
        ("HOME", "/home/ada"),
        ("HTTPS_PROXY", "http://p"),
        ("LANG", "de"),
        ("LC_ALL", "C"),
        ("LCX", "no"),
        ("PATH", "/bin"),
        ("SECRET", "no"),
        ("XAI_API_KEY", "host-xai"),
        ("XDG_RUNTIME_DIR", "/run/user/7"),
    ])
}

#[track_caller]
fn check(policy: &EnvPolicy, expected: &str) {
    let got = match policy.build(&ambient()) {
        Ok(built) => shown(&built.environment),
        Err(error) => error.to_string(),
    };
    assert_eq!(got, expected);
}

fn agent(name: &str) -> &'static AgentEntry {
    Registry::builtin().get(name).unwrap()
}

#[test]
fn only_what_is_allowed_is_taken_over() {
    let usual = "HOME=/home/ada LANG=de LC_ALL=C PATH=/bin XDG_RUNTIME_DIR=/run/user/7";
    check(&EnvPolicy::new(), usual);
    check(
        &EnvPolicy::new().allowing("SECRET").allowing("XA*"),
        "HOME=/home/ada LANG=de LC_ALL=C PATH=/bin SECRET=no XAI_API_KEY=host-xai \
         XDG_RUNTIME_DIR=/run/user/7",
    );
    let network = EnvPolicy::new().allowing_network();
    let built = network.build(&ambient()).unwrap().environment;
    assert_eq!(built.get("HTTPS_PROXY"), Some(OsStr::new("http://p")));
    assert_eq!(
        shown(
            &EnvPolicy::inheriting_all()
                .build(&ambient())
                .unwrap()
                .environment
        ),
        shown(&ambient())
    );
}

#[test]
fn keys_of_all_agents_are_cleared_and_this_ones_passed_on() {
    let registry = Registry::builtin();
    let gemini = agent("gemini");
    let all = EnvPolicy::inheriting_all().speaking_of(registry, gemini);
    let usual = "CLAUDECODE=1 HOME=/home/ada HTTPS_PROXY=http://p LANG=de LCX=no LC_ALL=C \
                 PATH=/bin SECRET=no XDG_RUNTIME_DIR=/run/user/7";
    check(&all, usual);
    let passing = all.clone().passing_keys_of(gemini);
    let built = passing.build(&ambient()).unwrap();
    let key = |name| built.environment.get(name).map(OsStr::to_str);
    assert_eq!(key("GEMINI_API_KEY"), Some(Some("host-gemini")));
    assert_eq!(key("XAI_API_KEY"), None);
    assert_eq!(built.redactor().redact("host-gemini"), "[redacted]");
    // A key that was allowed by name is a key all the same.
    let allowed = EnvPolicy::for_agent(registry, gemini).allowing("XAI_*");
    let built = allowed.build(&ambient()).unwrap();
    assert_eq!(built.environment.get("XAI_API_KEY"), None);
    // One that is not there is not made up.
    let other = EnvPolicy::new().passing_key("NOT_THERE");
    assert_eq!(other.build(&ambient()).unwrap().secrets.len(), 0);
}

#[test]
fn stored_keys_go_before_those_of_the_host() {
    let gemini = agent("gemini");
    let built = EnvPolicy::for_agent(Registry::builtin(), gemini)
        .passing_keys_of(gemini)
        .with_key("GEMINI_API_KEY", Secret::new("of-the-user"))
        .with_key("GOOGLE_API_KEY", Secret::new(""))
        .build(&ambient())
        .unwrap();
    let key = built.environment.get("GEMINI_API_KEY");
    assert_eq!(key, Some(OsStr::new("of-the-user")));
    assert_eq!(built.environment.get("GOOGLE_API_KEY"), None);
    assert_eq!(built.redactor().redact("a of-the-user b"), "a [redacted] b");
}

#[test]
fn what_keeps_an_agent_from_working_is_told() {
    let told = "start the agent with CLAUDECODE set: unset it, or leave it out";
    let claude = agent("claude");
    let registry = Registry::builtin();
    let all = EnvPolicy::inheriting_all().speaking_of(registry, claude);
    check(&all, told);
    // What does not get in keeps nobody from working.
    assert!(
        EnvPolicy::for_agent(registry, claude)
            .build(&ambient())
            .is_ok()
    );
    check(
        &EnvPolicy::for_agent(registry, claude).with("CLAUDECODE", ""),
        told,
    );
    check(
        &EnvPolicy::new().forbidding("PATH"),
        "start the agent with PATH set: unset it, or leave it out",
    );
}

#[test]
fn variables_of_the_entry_are_set() {
    let built = EnvPolicy::for_agent(Registry::builtin(), agent("auggie"))
        .build(&ambient())
        .unwrap();
    let value = built.environment.get("AUGMENT_DISABLE_AUTO_UPDATE");
    assert_eq!(value, Some(OsStr::new("1")));
}

#[test]
#[cfg(unix)]
fn a_home_of_its_own_is_not_led_out_of() {
    let dir = tempfile::tempdir().unwrap();
    let isolation = crate::launch::Isolation::new(dir.path().join("homes"));
    let home = isolation.home("ada", "codex").unwrap();
    let mut ambient = ambient();
    ambient.set("CODEX_HOME", "/home/ada/.codex").unwrap();
    ambient.set("XDG_DATA_DIRS", "/usr/share").unwrap();
    let policy = EnvPolicy::inheriting_all()
        .speaking_of(Registry::builtin(), agent("codex"))
        .in_home(home.clone());
    let built = policy.build(&ambient).unwrap().environment;
    let get = |name| built.get(name).map(|value| value.to_str().unwrap());
    assert_eq!(get("HOME"), home.path().to_str());
    assert_eq!(get("XDG_CONFIG_HOME"), home.path().join(".config").to_str());
    assert_eq!(get("CODEX_HOME"), None);
    assert_eq!(get("XDG_RUNTIME_DIR"), None);
    assert_eq!(get("XDG_DATA_DIRS"), Some("/usr/share"));
    // Whoever sets it means it.
    let meant = policy
        .with("CODEX_HOME", "/srv/codex")
        .build(&ambient)
        .unwrap();
    assert_eq!(
        meant.environment.get("CODEX_HOME"),
        Some(OsStr::new("/srv/codex"))
    );
}

#[test]
fn unusable_variables_are_told_without_their_values() {
    for policy in [
        EnvPolicy::new().with("A=B", "s3cret"),
        EnvPolicy::new().with_key("A", Secret::new("s3cret\0")),
    ] {
        let error = policy.build(&ambient()).unwrap_err();
        assert!(matches!(error, EnvError::Variable(_)));
        let shown = format!("{error} {error:?} {policy:?}");
        assert!(!shown.contains("s3cret\\0"), "{shown}");
    }
}
