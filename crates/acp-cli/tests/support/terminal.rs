//! A terminal of the kernel, and what is seen on it.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::{LIMIT, Run, left};

/// A run of the program on a terminal of its own.
pub(crate) struct OnTerminal {
    child: Child,
    keyboard: File,
    seen: Arc<Mutex<Seen>>,
    mark: String,
}

struct Seen {
    parser: vt100::Parser,
    bytes: Vec<u8>,
    ended: bool,
}

impl Run {
    /// Starts on a terminal of this size, which controls the program as a shell's would.
    pub(crate) fn on_terminal(self, columns: u16, rows: u16) -> OnTerminal {
        self.start_on_terminal("", columns, rows, None)
    }

    /// The same, below a line that is there already.
    pub(crate) fn on_terminal_after(self, line: &str, columns: u16, rows: u16) -> OnTerminal {
        self.start_on_terminal(line, columns, rows, None)
    }

    /// The same, with standard output elsewhere.
    pub(crate) fn on_terminal_with(self, columns: u16, rows: u16, out: Stdio) -> OnTerminal {
        self.start_on_terminal("", columns, rows, Some(out))
    }

    fn start_on_terminal(
        self,
        line: &str,
        columns: u16,
        rows: u16,
        out: Option<Stdio>,
    ) -> OnTerminal {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let controller = openpt(flags).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        tcsetwinsize(&controller, winsize(columns, rows)).unwrap();
        let terminal = ioctl_tiocgptpeer(&controller, flags).unwrap();
        let mut command = Command::new("setsid");
        command
            .arg("--ctty")
            .arg(self.command.get_program())
            .args(self.command.get_args())
            .env("TERM", "xterm-256color")
            .env("LC_ALL", "C.UTF-8")
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE");
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(folder) = self.command.get_current_dir() {
            command.current_dir(folder);
        }
        let stream = || Stdio::from(terminal.try_clone().unwrap());
        command
            .stdin(stream())
            .stdout(out.unwrap_or_else(stream))
            .stderr(stream());
        let child = command.spawn().unwrap();
        // Only who runs there still has it open, so that its end is seen.
        drop((terminal, command));
        let keyboard = File::from(controller);
        let mut parser =
            vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 0);
        if !line.is_empty() {
            parser.process(format!("{line}\r\n").as_bytes());
        }
        let seen = Arc::new(Mutex::new(Seen {
            parser,
            bytes: Vec::new(),
            ended: false,
        }));
        let (mut screen, shown) = (keyboard.try_clone().unwrap(), Arc::clone(&seen));
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // A terminal that nobody has open any more gives an error.
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                let mut seen = shown.lock();
                seen.parser.process(&bytes[..count]);
                seen.bytes.extend_from_slice(&bytes[..count]);
            }
            shown.lock().ended = true;
        });
        OnTerminal {
            child,
            keyboard,
            seen,
            mark: self.mark,
        }
    }
}

impl OnTerminal {
    /// Types.
    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        let mut seen = self.seen.lock();
        let screen = seen.parser.screen_mut();
        screen.set_size(rows.try_into().unwrap(), columns.try_into().unwrap());
        drop(seen);
        tcsetwinsize(&self.keyboard, winsize(columns, rows)).unwrap();
    }

    /// Kills the program, as nobody can prevent.
    pub(crate) fn kill(&self) {
        kill_process(Pid::from_child(&self.child), Signal::KILL).unwrap();
    }

    /// Waits until the screen is as wanted, and gives it.
    #[track_caller]
    pub(crate) fn wait_until(&self, wanted: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + LIMIT;
        loop {
            let screen = self.screen();
            if wanted(&screen) {
                return screen;
            }
            assert!(Instant::now() < deadline, "it never came: {screen}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for the end, and gives the exit code, the screen and all bytes.
    #[track_caller]
    pub(crate) fn end(mut self) -> (Option<i32>, String, String) {
        let deadline = Instant::now() + LIMIT;
        while !self.has_ended() {
            assert!(Instant::now() < deadline, "it goes on: {}", self.screen());
            thread::sleep(Duration::from_millis(5));
        }
        let code = self.child.wait().unwrap().code();
        assert_eq!(left(&self.mark), Vec::<String>::new(), "left behind");
        let bytes = self.seen.lock().bytes.clone();
        (code, self.screen(), String::from_utf8(bytes).unwrap())
    }

    /// Tells whether the program has ended and all it wrote is on the screen.
    pub(crate) fn has_ended(&self) -> bool {
        self.seen.lock().ended
    }

    /// Looks at the screen.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        look(self.seen.lock().parser.screen())
    }

    /// What is on the screen, without empty rows below.
    pub(crate) fn screen(&self) -> String {
        let seen = self.seen.lock();
        let screen = seen.parser.screen();
        let (_, columns) = screen.size();
        let rows: Vec<String> = screen
            .rows(0, columns.get())
            .map(|row| row.trim_end().to_owned())
            .collect();
        rows.join("\n").trim_end().to_owned()
    }
}

fn winsize(columns: u16, rows: u16) -> Winsize {
    Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}
