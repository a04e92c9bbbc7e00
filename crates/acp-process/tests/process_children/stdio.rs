//! Our own stdin and stdout, being a pipe, a socket, a file.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "stray prints are what is tested"
)]

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::thread;

use acp_process::stdio::protocol_stdio;
use rustix::fs::{OFlags, fcntl_getfl};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::helper::{self, own_words};
use crate::support::Folder;

/// More than any pipe or socket holds.
const LARGE: usize = 3 * 1024 * 1024;

/// Echoes stdin to stdout and tells on stderr what it was served by.
///
/// What is printed in between must not get among the frames.
#[test]
#[ignore = "a helper"]
fn echo() {
    if !helper::is_called("stdio::echo") {
        return;
    }
    runtime().block_on(async {
        let (mut stdin, mut stdout) = protocol_stdio().unwrap();
        eprintln!("{stdin:?} {stdout:?}");
        assert_eq!(
            protocol_stdio().unwrap_err().kind(),
            std::io::ErrorKind::AlreadyExists
        );
        print!("stray print, ");
        #[expect(clippy::disallowed_methods, reason = "plays a program that prints")]
        std::io::stdout().flush().unwrap();
        let child = std::process::Command::new("/bin/sh")
            .args(["-c", "read line && echo eaten; echo stray child"])
            .status();
        assert!(child.unwrap().success());
        let mut buffer = vec![0; 100_000];
        let result = async {
            loop {
                match stdin.read(&mut buffer).await? {
                    0 => return stdout.shutdown().await,
                    count => stdout.write_all(&buffer[..count]).await?,
                }
            }
        };
        match result.await {
            Ok(()) => eprintln!("end"),
            Err(error) => eprintln!("failed: {:?}", error.kind()),
        }
    });
    std::process::exit(0);
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
}

fn large() -> Vec<u8> {
    (0..251).cycle().take(LARGE).collect()
}

/// Starts the echo on these streams.
fn start(stdin: impl Into<Stdio>, stdout: impl Into<Stdio>) -> Child {
    helper::command("stdio::echo")
        .stdin(stdin)
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for the end and returns what was said on stderr.
fn stderr_of(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    stderr
}

/// Writes `bytes` from another thread, then closes.
fn feed(mut to: impl Write + Send + 'static, bytes: Vec<u8>) -> thread::JoinHandle<()> {
    thread::spawn(move || to.write_all(&bytes).unwrap())
}

fn read_all(mut from: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).unwrap();
    bytes
}

fn blocks(file: impl AsFd) -> bool {
    !fcntl_getfl(file).unwrap().contains(OFlags::NONBLOCK)
}

#[test]
fn pipes() {
    let (their_stdin, our_stdin) = std::io::pipe().unwrap();
    let (our_stdout, their_stdout) = std::io::pipe().unwrap();
    // We look at the very files the helper got.
    let (stdin, stdout) = (
        their_stdin.try_clone().unwrap(),
        their_stdout.try_clone().unwrap(),
    );
    let child = start(their_stdin, their_stdout);
    let fed = feed(our_stdin, large());
    let closed = thread::spawn(move || {
        let mut start = vec![0; LARGE / 2];
        let mut our_stdout = our_stdout;
        our_stdout.read_exact(&mut start).unwrap();
        // Half of it is through, so both are in use; and they still block.
        #[cfg(target_os = "linux")]
        assert_eq!(
            rustix::pipe::fcntl_getpipe_size(&stdout).unwrap(),
            256 << 10
        );
        assert!(blocks(stdin) && blocks(stdout));
        start.extend(read_all(our_stdout));
        start
    });
    fed.join().unwrap();
    assert!(own_words(&closed.join().unwrap()) == large());
    let stderr = stderr_of(child);
    assert!(
        stderr.ends_with("Stdin(\"pipe\") Stdout(\"pipe\")\nstray print, stray child\nend\n"),
        "{stderr}"
    );
}

#[test]
fn sockets() {
    let (our_stdin, their_stdin) = UnixStream::pair().unwrap();
    let (our_stdout, their_stdout) = UnixStream::pair().unwrap();
    let (stdin, stdout) = (
        their_stdin.try_clone().unwrap(),
        their_stdout.try_clone().unwrap(),
    );
    let child = start(OwnedFd::from(their_stdin), OwnedFd::from(their_stdout));
    let fed = feed(our_stdin, large());
    let mut start = vec![0; LARGE / 2];
    (&our_stdout).read_exact(&mut start).unwrap();
    assert!(blocks(&stdin) && blocks(&stdout));
    drop(stdin);
    // The end comes from the helper's shutdown: our clone still holds the file.
    start.extend(read_all(&our_stdout));
    drop(stdout);
    fed.join().unwrap();
    assert!(own_words(&start) == large());
    let stderr = stderr_of(child);
    assert!(
        stderr.ends_with("Stdin(\"socket\") Stdout(\"socket\")\nstray print, stray child\nend\n"),
        "{stderr}"
    );
}

#[test]
fn files() {
    let folder = Folder::new();
    let (input, output) = (folder.path().join("input"), folder.path().join("output"));
    std::fs::write(&input, large()).unwrap();
    let child = start(File::open(&input).unwrap(), File::create(&output).unwrap());
    let stderr = stderr_of(child);
    let written = std::fs::read(&output).unwrap();
    assert!(own_words(&written) == large());
    assert!(
        stderr.ends_with("Stdin(\"thread\") Stdout(\"thread\")\nstray print, stray child\nend\n"),
        "{stderr}"
    );
}

#[test]
fn nothing_to_read_is_the_end() {
    let mut output = tempfile();
    let child = start(Stdio::null(), output.try_clone().unwrap());
    let stderr = stderr_of(child);
    output.rewind().unwrap();
    assert_eq!(own_words(&read_all(output)), b"");
    assert!(stderr.ends_with("end\n"), "{stderr}");
}

#[test]
fn a_named_pipe_whose_writer_is_gone_still_ends() {
    let folder = Folder::new();
    let path = folder.path().join("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let mut both = File::options().read(true).write(true).open(&path).unwrap();
    let reader = File::open(&path).unwrap();
    both.write_all(b"last words\n").unwrap();
    drop(both);
    let mut output = tempfile();
    let child = start(reader, output.try_clone().unwrap());
    let stderr = stderr_of(child);
    output.rewind().unwrap();
    assert_eq!(own_words(&read_all(output)), b"last words\n");
    assert!(stderr.contains("Stdin(\"thread\")"), "{stderr}");
}

#[test]
fn a_reader_that_went_is_an_error() {
    for reader_kind in ["pipe", "socket"] {
        let (their_stdin, mut our_stdin) = std::io::pipe().unwrap();
        let (ours, theirs): (Box<dyn Read>, OwnedFd) = if reader_kind == "pipe" {
            let (ours, theirs) = std::io::pipe().unwrap();
            (Box::new(ours), theirs.into())
        } else {
            let (ours, theirs) = UnixStream::pair().unwrap();
            (Box::new(ours), theirs.into())
        };
        let mut ours = ours;
        let mut child = start(their_stdin, theirs);
        // Its first frame has come through; then the reader goes.
        our_stdin.write_all(b"hello\n").unwrap();
        let mut said = Vec::new();
        while !said.ends_with(b"hello\n") {
            let mut byte = [0];
            ours.read_exact(&mut byte).unwrap();
            said.push(byte[0]);
        }
        drop(ours);
        // A child that another test of this process forks right now holds the reader's end too, until it
        // executes its program: a first line may still find somebody.
        let asked = std::thread::spawn(move || while our_stdin.write_all(b"anybody?\n").is_ok() {});
        let mut stderr = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        assert!(child.wait().unwrap().success());
        asked.join().unwrap();
        assert!(
            stderr.ends_with("failed: BrokenPipe\n"),
            "{reader_kind}: {stderr}"
        );
    }
}

/// A file without a name.
fn tempfile() -> File {
    let folder = Folder::new();
    File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(folder.path().join("output"))
        .unwrap()
}
