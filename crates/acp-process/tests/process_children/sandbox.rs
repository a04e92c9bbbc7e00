//! Attacks from inside a sandbox. Each is made outside of one too, where it works: so
//! none is held off by a mistake in it.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use acp_process::{Environment, Exit, Launch, OsSandbox, SandboxError, SpawnError};
use rustix::process::Pid;

use crate::helper;
use crate::support::{Folder, Lines, sh, until, within};

const CANARY: &str = "a-canary-of-the-owner";

/// A user's folder: a project that is granted, and what is not.
struct Ground {
    folder: Folder,
    home: PathBuf,
    project: PathBuf,
    socket: UnixListener,
    abstract_socket: UnixListener,
    port: TcpListener,
    /// Another process of the same account, with a secret in its environment.
    bystander: Bystander,
}

/// A process that lets everybody of its account trace it, where that needs its word.
struct Bystander(Child);

impl Bystander {
    fn start() -> Self {
        let bystander = helper::command("sandbox::helper_that_stands_by")
            .env("SECRET", CANARY)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut bystander = bystander.unwrap();
        let stdout = bystander.stdout.as_mut().unwrap();
        let mut lines = BufReader::new(stdout).lines();
        assert!(lines.any(|line| line.unwrap() == "here"));
        Self(bystander)
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Stays until it is killed.
#[test]
#[ignore = "a helper"]
fn helper_that_stands_by() {
    if !helper::is_called("sandbox::helper_that_stands_by") {
        return;
    }
    be_traced();
    helper::say("here");
    let _ = std::io::stdin().read(&mut [0]);
}

/// Lets any process of this account trace this one, where Yama has a say.
fn be_traced() {
    // A kernel without Yama needs no word.
    let _ = rustix::process::set_ptracer(rustix::process::PTracer::Any);
}

impl Ground {
    fn new() -> Self {
        let folder = Folder::new();
        let home = folder.path().canonicalize().unwrap().join("home");
        let project = home.join("project");
        for path in ["project", ".ssh", ".aws", ".local/state/acp", "other"] {
            fs::create_dir_all(home.join(path)).unwrap();
        }
        for path in [
            ".ssh/id",
            ".aws/credentials",
            ".local/state/acp/log",
            "other/file",
        ] {
            fs::write(home.join(path), CANARY).unwrap();
        }
        be_traced();
        let name = format!("acp-sandbox-{}-{}", std::process::id(), home.display());
        let abstract_name = SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
        Self {
            socket: UnixListener::bind(home.join(".local/state/acp/socket")).unwrap(),
            abstract_socket: UnixListener::bind_addr(&abstract_name).unwrap(),
            port: TcpListener::bind("127.0.0.1:0").unwrap(),
            bystander: Bystander::start(),
            folder,
            home,
            project,
        }
    }

    fn sandbox(&self) -> OsSandbox {
        OsSandbox::new(&self.home).with_writable(&self.project)
    }

    fn launch(&self, attack: &str) -> Launch {
        let command = helper::command("sandbox::helper_that_attacks");
        let owner = std::process::id().to_string();
        let port = self.port.local_addr().unwrap().port().to_string();
        let abstract_name = self.abstract_socket.local_addr().unwrap();
        let abstract_name = abstract_name.as_abstract_name().unwrap().to_vec();
        let mut launch = Launch::new(command.get_program())
            .with_args(command.get_args())
            .with_environment(Environment::inherited(["PATH"]))
            .with_cwd(&self.project)
            .with_env("HOME", &self.home)
            .with_env("ATTACK", attack)
            .with_env("OWNER", owner)
            .with_env("BYSTANDER", self.bystander.0.id().to_string())
            .with_env("PORT", port)
            .with_env("ABSTRACT", String::from_utf8(abstract_name).unwrap());
        for (name, value) in command.get_envs() {
            launch = launch.with_env(name, value.unwrap_or_default());
        }
        launch
    }
}

/// Runs a launch to its end; returns what it wrote.
async fn output(launch: &Launch) -> (String, Exit) {
    let mut child = launch.spawn().unwrap();
    let output = Lines::of(&mut child).rest().await;
    let exit = within("the exit", child.handle().wait()).await;
    (output, exit)
}

async fn outcome(launch: &Launch) -> String {
    let (output, exit) = output(launch).await;
    assert!(exit.success(), "{exit:?}: {output}{}", exit.stderr_tail());
    let words = helper::own_words(output.as_bytes());
    String::from_utf8_lossy(words)
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// Tells whether this machine can make a sandbox. Where CI runs on a kernel that has
/// all that is needed, not to run these tests is a failure.
fn can() -> bool {
    let ground = Ground::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let _context = runtime.enter();
    let checked = ground.sandbox().check();
    let spawned = sh("exit 0")
        .with_cwd(&ground.project)
        .with_sandbox(ground.sandbox())
        .spawn();
    match (&checked, spawned) {
        (Ok(()), Ok(_)) => true,
        (Ok(()), Err(error)) => {
            assert!(
                std::env::var_os("CI").is_none_or(|ci| ci != "true"),
                "the kernel has Landlock, and a sandbox cannot be made: {error:?}"
            );
            skip(&format!("{error:?}"));
            false
        }
        (Err(error), _) => {
            skip(&error.to_string());
            false
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a test says that it is skipped")]
fn skip(why: &str) {
    use std::io::Write;
    let note = format!("SKIPPED: no sandbox on this machine: {why}\n");
    std::io::stderr().write_all(note.as_bytes()).unwrap();
}

/// Does what `ATTACK` names and says whether it worked.
#[test]
#[ignore = "a helper"]
fn helper_that_attacks() {
    if !helper::is_called("sandbox::helper_that_attacks") {
        return;
    }
    let attack = std::env::var("ATTACK").unwrap();
    match attempt(&attack) {
        Ok(()) => helper::say("broke out"),
        Err(error) => helper::say(&format!("held: {error}")),
    }
    std::process::exit(0);
}

fn attempt(attack: &str) -> std::io::Result<()> {
    let variable = |name: &str| std::env::var(name).unwrap();
    let home = PathBuf::from(variable("HOME"));
    let (owner, bystander) = (variable("OWNER"), variable("BYSTANDER"));
    let reads = |path: &Path| match fs::read(path)? {
        content if memchr::memmem::find(&content, CANARY.as_bytes()).is_some() => Ok(()),
        _ => Err(std::io::Error::other("something else is there")),
    };
    let succeeds = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).output()?;
        if output.status.success() {
            Ok(())
        } else {
            Err(std::io::Error::other(
                String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            ))
        }
    };
    match attack {
        "write-beside" => {
            reads(&home.join("other/file"))?;
            fs::write(home.join("other/file"), CANARY)
        }
        "write-through-dots" => fs::OpenOptions::new()
            .append(true)
            .open("../other/file")
            .map(drop),
        "list-home" => fs::read_dir(&home)?
            .flatten()
            .find(|entry| entry.file_name() == ".ssh")
            .map(drop)
            .ok_or_else(|| std::io::Error::other("it is not listed")),
        "read-ssh" => reads(&home.join(".ssh/id")),
        "read-aws" => reads(&home.join(".aws/credentials")),
        "read-state" => reads(&home.join(".local/state/acp/log")),
        "read-by-symlink" => {
            let _ = fs::remove_file("link");
            std::os::unix::fs::symlink("../.ssh/id", "link")?;
            reads(Path::new("link"))
        }
        "read-by-hard-link" => {
            let _ = fs::remove_file("hard");
            fs::hard_link("../.ssh/id", "hard")?;
            reads(Path::new("hard"))
        }
        "read-by-root-of-owner" => reads(
            &Path::new("/proc")
                .join(&owner)
                .join("root")
                .join(home.join(".ssh/id").strip_prefix("/").unwrap()),
        ),
        "environment-of-all" => fs::read_dir("/proc")?
            .flatten()
            .filter(|entry| entry.file_name().to_str() == Some(&owner))
            .find_map(|entry| fs::read(entry.path().join("environ")).ok())
            .filter(|environment| !environment.is_empty())
            .map(drop)
            .ok_or_else(|| std::io::Error::other("no such process")),
        "memory-of-owner" => fs::File::open(format!("/proc/{owner}/mem")).map(drop),
        "environment-of-bystander" => reads(&Path::new("/proc").join(&bystander).join("environ")),
        "memory-of-bystander" => fs::File::open(format!("/proc/{bystander}/mem")).map(drop),
        "files-of-bystander" => fs::read_dir(format!("/proc/{bystander}/fd")).map(drop),
        "trace-owner" => trace(owner.parse().unwrap()),
        "trace-bystander" => trace(bystander.parse().unwrap()),
        "signal-owner" => {
            let pid = Pid::from_raw(owner.parse().unwrap()).unwrap();
            Ok(rustix::process::test_kill_process(pid)?)
        }
        "socket" => UnixStream::connect(home.join(".local/state/acp/socket")).map(drop),
        "abstract-socket" => {
            let address = SocketAddr::from_abstract_name(variable("ABSTRACT"))?;
            UnixStream::connect_addr(&address).map(drop)
        }
        "network" => {
            let port = variable("PORT").parse().unwrap();
            TcpStream::connect(("127.0.0.1", port)).map(drop)
        }
        "mount" => succeeds(
            "unshare",
            &[
                "-Urm",
                "sh",
                "-c",
                "mount -t tmpfs none /mnt || mount -t tmpfs none /etc",
            ],
        ),
        other => panic!("no attack {other}"),
    }
}

/// Becomes the tracer of a process; with the end of this one it is free again.
#[expect(unsafe_code, reason = "no crate here traces processes")]
fn trace(pid: i32) -> std::io::Result<()> {
    let nothing = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: integers and null pointers, which this request does not follow.
    match unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, nothing, nothing) } {
        -1 => Err(std::io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[tokio::test]
async fn attacks_are_held() {
    if !tokio::task::spawn_blocking(can).await.unwrap() {
        return;
    }
    let ground = Ground::new();
    for attack in [
        "write-beside",
        "write-through-dots",
        "list-home",
        "read-ssh",
        "read-aws",
        "read-state",
        "read-by-symlink",
        "read-by-hard-link",
        "read-by-root-of-owner",
        "environment-of-all",
        "memory-of-owner",
        "environment-of-bystander",
        "memory-of-bystander",
        "files-of-bystander",
        "trace-owner",
        "trace-bystander",
        "signal-owner",
        "socket",
        "abstract-socket",
        "network",
        "mount",
    ] {
        let launch = ground.launch(attack);
        let free = outcome(&launch).await;
        assert_eq!(free, "broke out", "{attack} without a sandbox");
        let on = outcome(&launch.clone().with_sandbox(ground.sandbox())).await;
        let off = ground.sandbox().without_network();
        let off = outcome(&launch.with_sandbox(off)).await;
        assert!(off.starts_with("held: "), "{attack} without network: {off}");
        if attack == "network" {
            assert_eq!(on, "broke out", "the network is on");
        } else {
            assert!(on.starts_with("held: "), "{attack}: {on}");
        }
    }
    drop((ground.socket, ground.folder));
}

/// The account of the attacks, where the one that runs the tests may become another.
const NOBODY: u32 = 65_534;

#[test]
fn attacks_of_an_ordinary_account_are_held() {
    if !rustix::process::geteuid().is_root() {
        // The other test runs as one.
        return;
    }
    // Programs below the home folder of root are not for others.
    let folder = Folder::new();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let program = folder.path().join("attacks");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let output = Command::new(&program)
        .args(["--exact", "--nocapture", "sandbox::attacks_are_held"])
        .current_dir(folder.path())
        .env("TMPDIR", folder.path())
        .uid(NOBODY)
        .gid(NOBODY)
        .output();
    let output = output.unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    if let Some(note) = stderr.lines().find(|line| line.starts_with("SKIPPED")) {
        return skip(&format!("an ordinary account: {note}"));
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("1 passed"), "{stdout}");
}

#[tokio::test]
async fn the_work_of_an_agent_goes_on() {
    if !tokio::task::spawn_blocking(can).await.unwrap() {
        return;
    }
    let ground = Ground::new();
    let extra = ground.home.join("shown");
    fs::create_dir(&extra).unwrap();
    fs::write(extra.join("text"), "shown\n").unwrap();
    let script = "set -e; echo new >made; mv made kept; cat ../shown/text; \
        if (echo no >../shown/text) 2>&-; then exit 9; fi; \
        mkdir -p \"$HOME/.cache\"; echo x >\"$HOME/.cache/x\"; echo y >/tmp/y; echo z >/dev/null; \
        if (echo no >/usr/no) 2>&-; then exit 8; fi; if (echo no >/no) 2>&-; then exit 7; fi; \
        if cat /etc/shadow 2>&- | grep -q .; then exit 6; fi; \
        head -c 4 /dev/urandom >r; ls -d /proc/[0-9]* | wc -l; pwd; exec sh -c 'exit 5'";
    let launch = sh(script)
        .with_cwd(&ground.project)
        .with_env("HOME", &ground.home)
        .with_sandbox(ground.sandbox().with_readable(&extra));
    let (said, exit) = output(&launch).await;
    assert_eq!(
        exit.status().code(),
        Some(5),
        "{said}{}",
        exit.stderr_tail()
    );
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "shown");
    // Two guards' processes, the holder, and the pipeline.
    assert!(lines[1].parse::<u32>().unwrap() < 9, "{said}");
    assert_eq!(lines[2], ground.project.to_str().unwrap());
    assert_eq!(
        fs::read_to_string(ground.project.join("kept")).unwrap(),
        "new\n"
    );
    assert!(!ground.home.join(".cache").exists());
    assert!(!Path::new("/tmp/y").exists());
}

#[tokio::test]
async fn a_directory_that_was_opened_is_the_one_inside() {
    if !tokio::task::spawn_blocking(can).await.unwrap() {
        return;
    }
    let ground = Ground::new();
    let open = |path: &Path| std::os::fd::OwnedFd::from(fs::File::open(path).unwrap());
    let launch = sh("pwd; cat ../other/file")
        .with_cwd_handle(open(&ground.project))
        .with_sandbox(ground.sandbox());
    let (said, exit) = output(&launch).await;
    assert_eq!(said, format!("{}\n", ground.project.display()));
    assert!(!exit.success());

    let error = sh("pwd")
        .with_cwd_handle(open(&ground.home.join("other")))
        .with_sandbox(ground.sandbox())
        .spawn()
        .unwrap_err();
    assert!(
        matches!(
            &error,
            SpawnError::Sandbox(SandboxError::WorkingDirectory { .. })
        ),
        "{error:?}"
    );
}

/// A child in a sandbox with a daemon that cares about nothing and sleeps for `mark`.
fn with_daemon(ground: &Ground, mark: &str) -> Launch {
    let script = format!(
        "(setsid sh -c 'trap \"\" INT TERM HUP; exec sleep {mark}' &); echo on; read _ || :"
    );
    sh(&script)
        .with_cwd(&ground.project)
        .with_sandbox(ground.sandbox())
}

fn sleepers(mark: &str) -> usize {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let line = format!("sleep\0{mark}\0");
    pids.filter(|entry| {
        fs::read(entry.path().join("cmdline")).is_ok_and(|found| found == line.as_bytes())
    })
    .count()
}

#[tokio::test]
async fn a_daemon_does_not_leave_its_sandbox() {
    if !tokio::task::spawn_blocking(can).await.unwrap() {
        return;
    }
    let ground = Ground::new();
    let mark = format!("31{:06}", std::process::id());
    let mut child = with_daemon(&ground, &mark).spawn().unwrap();
    let mut lines = Lines::of(&mut child);
    assert_eq!(lines.next().await, "on");
    until("the daemon", || sleepers(&mark) == 1);
    let exit = within("the exit", child.handle().close_and_wait()).await;
    assert!(exit.success(), "{exit:?}");
    assert_eq!((exit.escaped(), exit.survivors()), (1, 0));
    assert_eq!(sleepers(&mark), 0);
}

/// Starts a daemon in a sandbox, and waits.
#[test]
#[ignore = "a helper"]
fn helper_that_is_killed() {
    if !helper::is_called("sandbox::helper_that_is_killed") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let ground = Ground::new();
        let mut child = with_daemon(&ground, &std::env::var("MARK").unwrap())
            .spawn()
            .unwrap();
        assert_eq!(Lines::of(&mut child).next().await, "on");
        std::future::pending::<()>().await;
    });
}

#[test]
fn a_killed_owner_leaves_nobody_in_a_sandbox() {
    if !can() {
        return;
    }
    let mark = format!("32{:06}", std::process::id());
    let mut owner = helper::command("sandbox::helper_that_is_killed")
        .env("MARK", &mark)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    until("the daemon", || sleepers(&mark) == 1);
    owner.kill().unwrap();
    owner.wait().unwrap();
    until("the end of the daemon", || sleepers(&mark) == 0);
}

#[test]
fn too_wide_grants_are_refused() {
    let ground = Ground::new();
    let check = |sandbox: OsSandbox, expected: &str| {
        let error = sandbox.check().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let sandbox = || OsSandbox::new(&ground.home);
    check(sandbox().with_writable("/"), "it holds the home folder");
    check(
        sandbox().with_writable(&ground.home),
        "it holds the home folder",
    );
    check(
        sandbox().with_readable(ground.home.join(".ssh")),
        "is never shown",
    );
    check(
        sandbox().with_readable(ground.home.join(".local")),
        "is never shown",
    );
    check(sandbox().with_writable(ground.home.join("none")), "grant");
    // By a link too.
    let link = ground.project.join("link");
    std::os::unix::fs::symlink(&ground.home, &link).unwrap();
    check(sandbox().with_writable(&link), "it holds the home folder");
}
