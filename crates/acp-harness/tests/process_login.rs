//! Logins by programs that only look like those of agents.
#![cfg(any(target_os = "linux", target_os = "macos"))]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use acp_harness::launch::{AgentHome, EnvPolicy, Isolation};
use acp_harness::login::{
    DeviceCommand, LoginError, LoginMarker, LoginStatus, Logins, TerminalLogin,
};
use acp_harness::{AgentEntry, Registry};
use acp_process::{Environment, Launch, TerminalSize};
use acp_protocol::v1::AuthMethodTerminal;

/// How long a test that hangs may take.
const PATIENCE: Duration = Duration::from_secs(50);
const SHORT: Duration = Duration::from_millis(100);

/// Tells both halves, each on another stream.
const TELL: &str = "echo 'Open https://example.com/device' >&2; echo 'and enter ABCD-1234';";
/// Leaves somebody behind, and stays.
const STAY: &str = "trap '' INT TERM; sleep 1000 & echo $! >left; echo $$ >self; wait; wait";

struct Scene {
    _dir: tempfile::TempDir,
    home: AgentHome,
    logins: Logins,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let home = Isolation::new(root.join("homes"))
            .home("ada", "sh")
            .unwrap();
        Self {
            _dir: dir,
            home,
            logins: Logins::new(),
        }
    }

    /// An agent whose login command is this script, run in the home.
    fn command(&self, script: &str) -> DeviceCommand {
        let mut agent = AgentEntry::new("sh", "sh");
        agent.login.device = ["sh", "-c", script].map(String::from).into();
        let registry = Registry::empty();
        let ambient = Environment::inherited(["PATH", "HOME"]);
        let programs = registry.find(&agent, ambient.get("PATH").unwrap()).unwrap();
        let built = EnvPolicy::for_agent(&registry, &agent)
            .in_home(self.home.clone())
            .build(&ambient)
            .unwrap();
        DeviceCommand::for_agent(&agent, &programs, &built, &self.home)
            .unwrap()
            .with_code_timeout(PATIENCE)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn status(&self) -> LoginStatus {
        self.logins.status("ada", "sh", &self.home).unwrap()
    }

    /// How a login of this command ends.
    async fn end(&self, command: DeviceCommand) -> Result<LoginMarker, LoginError> {
        self.logins.begin("ada", "sh", command).unwrap().end().await
    }

    /// Waits for the id of a process that a script wrote down.
    async fn pid(&self, name: &str) -> rustix::process::Pid {
        let read = || std::fs::read_to_string(self.path(name)).unwrap_or_default();
        until(|| read().ends_with('\n')).await;
        rustix::process::Pid::from_raw(read().trim().parse().unwrap()).unwrap()
    }

    async fn assert_gone_if_begun(&self) {
        if self.path("self").exists() {
            self.assert_gone().await;
        }
    }

    /// Nothing of [`STAY`] is left.
    async fn assert_gone(&self) {
        for name in ["self", "left"] {
            let pid = self.pid(name).await;
            until(|| is_gone(pid)).await;
        }
    }
}

/// Tells whether a process runs no more. Who is left behind is reaped by the system, which
/// takes its time.
fn is_gone(pid: rustix::process::Pid) -> bool {
    let stat = format!("/proc/{}/stat", pid.as_raw_nonzero());
    let is_zombie = std::fs::read_to_string(stat).is_ok_and(|stat| stat.contains(") Z "));
    is_zombie || rustix::process::test_kill_process(pid).is_err()
}

/// Waits for something outside of this process to come true.
async fn until(is_true: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_true() {
        assert!(begun.elapsed() < PATIENCE, "it does not come true");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_code_is_shown_and_entered_and_the_login_remembered() {
    let scene = Scene::new();
    assert_eq!(scene.status(), LoginStatus::LoggedOut);
    // It waits in its home for the code to be entered.
    let script = format!("mkfifo gate; {TELL} read -r word <gate; test \"$word\" = \"$HOME\"");
    let login = scene.logins.begin("ada", "sh", scene.command(&script));
    let login = login.unwrap();
    let challenge = login.challenge().await.unwrap();
    assert_eq!(challenge.url, "https://example.com/device");
    assert_eq!(challenge.code, "ABCD-1234");
    assert_eq!(login.challenge().await.unwrap(), challenge);
    assert_eq!(scene.status(), LoginStatus::Pending);
    let shown = format!("{login:?} {:?}", scene.logins);
    assert!(
        !shown.contains("ABCD") && !shown.contains("example"),
        "{shown}"
    );

    let (gate, word) = (scene.path("gate"), scene.path("").display().to_string());
    let word = word.trim_end_matches('/').to_owned();
    let entered = tokio::task::spawn_blocking(move || std::fs::write(gate, word + "\n"));
    let marker = login.end().await.unwrap();
    entered.await.unwrap().unwrap();
    assert_eq!(marker.method, "device code");
    assert_eq!(scene.status(), LoginStatus::LoggedIn(marker));
    scene
        .logins
        .log_out("ada", "sh", &scene.home)
        .await
        .unwrap();
    assert_eq!(scene.status(), LoginStatus::LoggedOut);
}

#[tokio::test]
async fn what_was_shown_before_anybody_looked_is_not_lost() {
    let scene = Scene::new();
    let login = scene
        .logins
        .begin("ada", "sh", scene.command(TELL))
        .unwrap();
    login.end().await.unwrap();
    assert_eq!(login.challenge().await.unwrap().code, "ABCD-1234");
}

#[tokio::test]
async fn who_ends_first_or_badly_logs_in_nobody() {
    let scene = Scene::new();
    let first = scene
        .end(scene.command("echo 'Open ABCD-1234'; exit 3"))
        .await;
    let told = "get a code to log in with: the command ended first, exit code 3";
    assert_eq!(first.unwrap_err().to_string(), told);
    let badly = scene.end(scene.command(&format!("{TELL} exit 4"))).await;
    let told = "log in: the command ended with exit code 4";
    assert_eq!(badly.unwrap_err().to_string(), told);
    let absent = DeviceCommand::new(Launch::new("/no/such/program"));
    let absent = scene.end(absent).await;
    assert!(matches!(absent, Err(LoginError::Spawn(_))), "{absent:?}");
    assert_eq!(scene.status(), LoginStatus::LoggedOut);
}

#[tokio::test]
async fn the_whole_tree_is_killed_when_time_is_over() {
    // It shows nothing. The bound begins with the command, which may be slow to begin.
    let scene = Scene::new();
    let silent = scene
        .command(STAY)
        .with_code_timeout(Duration::from_secs(3));
    let end = scene.end(silent).await;
    assert!(matches!(end, Err(LoginError::NoCode { .. })), "{end:?}");
    scene.assert_gone_if_begun().await;

    // Nobody enters the code.
    let scene = Scene::new();
    let stays = STAY.replace("wait; wait", &format!("{TELL} wait; wait"));
    let unentered = scene.command(&stays).with_user_timeout(SHORT);
    let end = scene.end(unentered).await;
    assert!(matches!(end, Err(LoginError::NotEntered { .. })), "{end:?}");
    scene.assert_gone().await;

    // All of it takes too long.
    let scene = Scene::new();
    let endless = scene.command(STAY).with_timeout(Duration::from_secs(1));
    let end = scene.end(endless).await;
    assert!(matches!(end, Err(LoginError::TimedOut { .. })), "{end:?}");
    scene.assert_gone_if_begun().await;
    assert_eq!(scene.status(), LoginStatus::LoggedOut);
}

#[tokio::test]
async fn a_new_login_takes_the_place_of_the_old() {
    let scene = Scene::new();
    let stays = STAY.replace("wait; wait", &format!("{TELL} wait; wait"));
    let old = scene
        .logins
        .begin("ada", "sh", scene.command(&stays))
        .unwrap();
    old.challenge().await.unwrap();
    let other = Scene::new();
    let others = scene
        .logins
        .begin("bob", "sh", other.command(&stays))
        .unwrap();
    others.challenge().await.unwrap();
    // It begins when nothing of the old one is left.
    let alone = format!("kill -0 \"$(cat self)\" && exit 9; {TELL}");
    let new = scene
        .logins
        .begin("ada", "sh", scene.command(&alone))
        .unwrap();
    let replaced = old.end().await;
    assert!(
        matches!(replaced, Err(LoginError::Replaced)),
        "{replaced:?}"
    );
    scene.assert_gone().await;
    new.end().await.unwrap();
    assert!(!scene.logins.is_live("ada", "sh"));
    assert!(scene.logins.is_live("bob", "sh"), "others are left alone");
    assert!(scene.logins.cancel("bob", "sh").await);
    let cancelled = others.end().await;
    assert!(
        matches!(cancelled, Err(LoginError::Cancelled)),
        "{cancelled:?}"
    );
    other.assert_gone().await;
    assert!(!scene.logins.cancel("bob", "sh").await);
}

#[tokio::test]
async fn nobody_waiting_is_nobody_logging_in() {
    let scene = Scene::new();
    let login = scene
        .logins
        .begin("ada", "sh", scene.command(STAY))
        .unwrap();
    scene.pid("self").await;
    drop(login);
    scene.assert_gone().await;
    until(|| !scene.logins.is_live("ada", "sh")).await;
}

#[tokio::test]
async fn some_speak_only_where_somebody_can_be_looking() {
    let scene = Scene::new();
    let script = r"test -t 0 && test -t 1 && test -t 2 || exit 3
        printf '\033[2J\033[1mOpen https://example.com/device\033[0m\n\033[36mABCD-1234\033[0m\n'";
    let unseen = scene.end(scene.command(script)).await;
    let told = "get a code to log in with: the command ended first, exit code 3";
    assert_eq!(unseen.unwrap_err().to_string(), told);
    let command = scene.command(script).on_terminal();
    let login = scene.logins.begin("ada", "sh", command).unwrap();
    let challenge = login.challenge().await.unwrap();
    assert_eq!(challenge.url, "https://example.com/device");
    assert_eq!(challenge.code, "ABCD-1234");
    login.end().await.unwrap();

    // On a terminal too, nothing is left of one that is given up.
    let stays = STAY.replace("trap '' INT", "trap '' HUP INT");
    let silent = scene.command(&stays).on_terminal();
    let login = scene.logins.begin("ada", "sh", silent).unwrap();
    scene.pid("self").await;
    login.cancel();
    assert!(login.end().await.is_err());
    scene.assert_gone().await;
}

/// An agent that can be logged in to on a terminal.
fn agent(then: &str) -> Launch {
    let script = format!(
        r#"test -t 0 && test -t 1 && test -t 2 || exit 3
        test "$1 $2" = "acp --login" || exit 4
        test "$WHO" = ada || exit 5
        {then}"#
    );
    Launch::new("/bin/sh")
        .with_args(["-c", &script, "agent", "acp"])
        .with_environment(Environment::inherited(["PATH"]))
        .with_env("WHO", "nobody")
}

fn method() -> AuthMethodTerminal {
    let mut method = AuthMethodTerminal::new("terminal", "On a terminal");
    method.args = vec!["--login".to_owned()];
    method.env.insert("WHO".to_owned(), "ada".to_owned());
    method
}

#[tokio::test]
async fn a_person_logs_in_on_a_terminal() {
    let scene = Scene::new();
    let asks = "stty -echo; printf 'word of '; stty size; read -r word; test \"$word\" = sesame \
                && echo welcome";
    let login = TerminalLogin::new(&agent(asks), &method())
        .with_size(TerminalSize::new(100, 30))
        .remembered_in(scene.home.clone());
    let mut shown = Vec::new();
    let marker = login.run(&b"sesame\n"[..], &mut shown).await.unwrap();
    assert_eq!(marker.method, "terminal");
    let shown = String::from_utf8(shown).unwrap();
    assert!(shown.contains("word of 30 100\r\n"), "{shown:?}");
    assert!(shown.ends_with("welcome\r\n"), "{shown:?}");
    assert_eq!(scene.status(), LoginStatus::LoggedIn(marker));
}

#[tokio::test]
async fn a_login_on_a_terminal_may_come_to_nothing() {
    let run = async |then: &str, bound: Duration| {
        let login = TerminalLogin::new(&agent(then), &method()).with_timeout(bound);
        let end = login.run(tokio::io::empty(), tokio::io::sink()).await;
        end.unwrap_err().to_string()
    };
    // The end of the input is one for the program.
    let refused = "log in: the command ended with exit code 7";
    assert_eq!(run("read -r word || exit 7", PATIENCE).await, refused);
    let endless = "log in: it was not done within 0.1 s";
    assert_eq!(
        run("trap '' HUP INT TERM; sleep 1000", SHORT).await,
        endless
    );
}

#[tokio::test]
async fn a_person_who_is_gone_leaves_no_program() {
    let scene = Scene::new();
    let stays = STAY.replace("trap '' INT", "trap '' HUP INT");
    let launch = agent(&stays).with_cwd(scene.home.path());
    // One that waits for somebody who holds the other end open.
    let (input, _keyboard) = tokio::io::duplex(16);
    let login = TerminalLogin::new(&launch, &method());
    let running = tokio::spawn(login.run(input, tokio::io::sink()));
    scene.pid("self").await;
    running.abort();
    scene.assert_gone().await;
}
