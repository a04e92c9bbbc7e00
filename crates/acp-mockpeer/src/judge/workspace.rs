//! A place for one program under test, and the certainty that nothing of it is left.

use std::io;
use std::path::PathBuf;

use acp_process::Launch;

/// The variable by which whatever a program starts is known as its own.
const MARK: &str = "ACP_CHECK_ROOM";

/// What stands in the only file of a project.
const NOTES: &str = "# Notes\n\nThe fern on the windowsill wants water.\n";

/// A temporary folder that only this user can enter, and the mark of who lives in it.
pub(super) struct TestWorkspace {
    folder: tempfile::TempDir,
    path: PathBuf,
    /// The folder that the conversation is about.
    pub(super) project: PathBuf,
    /// A folder that the conversation is not about.
    pub(super) elsewhere: PathBuf,
}

impl TestWorkspace {
    /// Makes a folder with an empty project in it, and another empty folder beside it.
    pub(super) fn new() -> Result<Self, String> {
        Self::make().map_err(|error| format!("no folder could be made for it: {error}"))
    }

    fn make() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("acp-check-").tempdir()?;
        // Who compares paths compares them without links.
        let path = folder.path().canonicalize()?;
        let project = path.join("project");
        let elsewhere = path.join("elsewhere");
        std::fs::create_dir(&project)?;
        std::fs::create_dir(&elsewhere)?;
        Ok(Self {
            folder,
            path,
            project,
            elsewhere,
        })
    }

    /// Puts a file into the project: an agent that is given a link to it reads it.
    pub(super) fn with_notes(self) -> Result<Self, String> {
        std::fs::write(self.project.join("notes.md"), NOTES)
            .map_err(|error| format!("no file could be made for it: {error}"))?;
        Ok(self)
    }

    /// Returns a place for something of ours.
    pub(super) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Marks what is started by this launch, and all that it starts.
    pub(super) fn mark(&self, launch: Launch) -> Launch {
        launch.with_env(MARK, &self.path)
    }

    /// Ends what the program left behind and tells what it was; then nothing is left.
    ///
    /// Only Linux tells; elsewhere the program's process group is all that is known,
    /// and that was killed with it. Who hides its environment is not found.
    pub(super) fn clear(self, group: u32) -> Vec<String> {
        let left = leftovers::end(MARK, &self.path, group);
        // A folder that cannot be removed harms nobody.
        let _ = self.folder.close();
        left
    }
}

#[cfg(target_os = "linux")]
mod leftovers {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    /// More processes than this are not looked at; nobody leaves so many by mistake.
    const MOST: usize = 256;

    /// How long a killed process may take to be gone.
    const GONE_WITHIN: Timespec = Timespec {
        tv_sec: 2,
        tv_nsec: 0,
    };

    pub(super) fn end(name: &str, value: &Path, group: u32) -> Vec<String> {
        let mut marked = name.as_bytes().to_vec();
        marked.push(b'=');
        marked.extend_from_slice(value.as_os_str().as_bytes());
        let mut left = Vec::new();
        // One that is killed may just have started another.
        for _ in 0..3 {
            let found = find(&marked);
            if found.is_empty() {
                break;
            }
            for pid in found {
                left.extend(kill(pid, &marked, group));
            }
        }
        left
    }

    fn find(marked: &[u8]) -> Vec<Pid> {
        let Ok(processes) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        let pid = |entry: fs::DirEntry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?);
        let pids = processes.flatten().filter_map(pid);
        pids.filter(|pid| is_marked(*pid, marked))
            .take(MOST)
            .collect()
    }

    fn is_marked(pid: Pid, marked: &[u8]) -> bool {
        let environment = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero()));
        environment.is_ok_and(|all| all.split(|byte| *byte == 0).any(|one| one == marked))
    }

    /// Kills a process and says what it was, unless it was being killed already.
    fn kill(pid: Pid, marked: &[u8], group: u32) -> Option<String> {
        let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        // The number may belong to somebody else by now; what is open does not change.
        if !is_marked(pid, marked) {
            return None;
        }
        let command = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero()));
        let own = rustix::process::getpgid(Some(pid))
            .is_ok_and(|own| own.as_raw_nonzero().get().unsigned_abs() == group);
        pidfd_send_signal(&process, Signal::KILL).ok()?;
        let mut fds = [PollFd::new(&process, PollFlags::IN)];
        let _ = poll(&mut fds, Some(&GONE_WITHIN));
        // The rest of its own group was killed with it, and only took a moment.
        (!own).then(|| words(&command.unwrap_or_default()))
    }

    fn words(command: &[u8]) -> String {
        let words = command.split(|byte| *byte == 0);
        let words: Vec<_> = words
            .filter(|word| !word.is_empty())
            .map(|word| OsStr::from_bytes(word).to_string_lossy())
            .collect();
        crate::player::shown(words.join(" ").as_bytes())
    }
}

#[cfg(not(target_os = "linux"))]
mod leftovers {
    use std::path::Path;

    pub(super) fn end(_: &str, _: &Path, _: u32) -> Vec<String> {
        Vec::new()
    }
}
