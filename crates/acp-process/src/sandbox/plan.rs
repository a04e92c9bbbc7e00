//! The root of a sandbox on Linux, as a list of steps that make it.

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Grant, OsSandbox, SandboxError};

/// Where the root outside is while the one inside is made.
const OUTSIDE: &str = "/.outside";
/// Folders of the system with programs, libraries and settings.
const SYSTEM: [&str; 12] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu",
    "/snap",
];
/// Files below them that hold keys of the system.
const SYSTEM_SECRETS: [&str; 8] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/ssl/private",
    "/etc/ssh",
    "/etc/NetworkManager/system-connections",
];
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
/// Memory that may be written into each of the folders that go with the sandbox.
const SCRATCH: &str = "mode=0700,size=1g,nr_inodes=1m";
const SCRATCH_OF_ALL: &str = "mode=1777,size=1g,nr_inodes=1m";
const FRAME: &str = "mode=0755,size=16m,nr_inodes=64k";

/// One step; none needs memory when it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Make a folder, if it is not there.
    Folder(CString),
    /// Make an empty file, if it is not there.
    File(CString),
    /// Make a link, if nothing is there.
    Link { to: CString, at: CString },
    /// Show a path of the outside, with all that is mounted below it.
    Bind {
        from: CString,
        at: CString,
        read_only: bool,
        devices: bool,
    },
    /// An empty folder in memory.
    Scratch { at: CString, options: CString },
    /// The processes of the sandbox.
    Processes(CString),
    /// Terminals of the sandbox.
    Terminals(CString),
}

/// All that is needed to make the sandbox of one child.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// An existing folder to make the frame of the new root on.
    pub(crate) base: CString,
    pub(crate) frame: CString,
    pub(crate) outside_at_base: CString,
    pub(crate) outside: CString,
    pub(crate) steps: Vec<Step>,
    /// Where the child may write, by its names inside.
    pub(crate) writable: Vec<CString>,
    pub(crate) network: bool,
}

impl Plan {
    /// Plans the sandbox of a child; looks at the files of the system, changes nothing.
    pub(crate) fn new(
        sandbox: &OsSandbox,
        program: &Path,
        searched: Option<&OsStr>,
        cwd: &Path,
    ) -> Result<Self, SandboxError> {
        let mut grants = sandbox.grants_for(program, searched)?;
        let home = sandbox.real_home()?;
        let cwd_is_there = cwd.canonicalize().is_ok_and(|real| {
            real == home
                || SYSTEM.iter().any(|folder| real.starts_with(folder))
                || grants.iter().any(|grant| real.starts_with(&grant.path))
        });
        if !cwd_is_there {
            return Err(SandboxError::WorkingDirectory {
                cwd: cwd.to_owned(),
            });
        }
        let mut draft = Draft::default();
        for folder in SYSTEM {
            draft.system(Path::new(folder))?;
        }
        // The file behind the link changes with the network; links of others do not matter.
        if let Ok(resolver) = Path::new("/etc/resolv.conf").canonicalize()
            && !resolver.starts_with("/etc")
        {
            draft.bind(&resolver, false, true, false)?;
        }
        for secret in SYSTEM_SECRETS {
            draft.hide(Path::new(secret))?;
        }
        draft.devices()?;
        draft.scratch(Path::new("/tmp"), SCRATCH_OF_ALL)?;
        draft.scratch(Path::new("/var/tmp"), SCRATCH_OF_ALL)?;
        draft.scratch(&home, SCRATCH)?;
        // A path before all that is below it; the wider right of two for one path last.
        grants.sort_by(|a, b| (&a.path, a.writable).cmp(&(&b.path, b.writable)));
        for grant in &grants {
            if !is_shown_already(grant, &grants) {
                draft.grant(grant)?;
            }
        }
        draft.names(&[program, cwd, sandbox.home()])?;
        let mut writable: Vec<PathBuf> = ["/tmp", "/var/tmp", "/dev", "/proc"]
            .map(PathBuf::from)
            .to_vec();
        writable.push(home);
        writable.extend(
            grants
                .into_iter()
                .filter(|grant| grant.writable)
                .map(|grant| grant.path),
        );
        Ok(Self {
            base: c"/tmp".to_owned(),
            frame: text(OsStr::new(FRAME))?,
            outside_at_base: text(OsStr::new(&format!("/tmp{OUTSIDE}")))?,
            outside: text(OsStr::new(OUTSIDE))?,
            steps: draft.steps,
            writable: writable
                .iter()
                .map(|path| text(path.as_os_str()))
                .collect::<Result<_, _>>()?,
            network: sandbox.network,
        })
    }
}

/// Tells whether a read-only grant lies below another grant or the system's folders: to
/// show it again would only take rights away.
fn is_shown_already(grant: &Grant, grants: &[Grant]) -> bool {
    let below_system = SYSTEM.iter().any(|folder| grant.path.starts_with(folder));
    let below_other = grants.iter().any(|other| {
        other.path != grant.path
            && grant.path.starts_with(&other.path)
            && (other.writable || !grant.writable)
    });
    !grant.writable && (below_system || below_other)
}

#[derive(Default)]
struct Draft {
    steps: Vec<Step>,
    folders: BTreeSet<PathBuf>,
}

impl Draft {
    /// Makes all folders that a path lies in.
    fn parents(&mut self, path: &Path) -> Result<(), SandboxError> {
        let mut parents: Vec<&Path> = path.ancestors().skip(1).collect();
        parents.pop();
        for parent in parents.into_iter().rev() {
            self.folder(parent)?;
        }
        Ok(())
    }

    fn folder(&mut self, path: &Path) -> Result<(), SandboxError> {
        if self.folders.insert(path.to_owned()) {
            self.steps.push(Step::Folder(text(path.as_os_str())?));
        }
        Ok(())
    }

    fn bind(
        &mut self,
        path: &Path,
        is_folder: bool,
        read_only: bool,
        devices: bool,
    ) -> Result<(), SandboxError> {
        self.parents(path)?;
        let at = text(path.as_os_str())?;
        if is_folder {
            self.folder(path)?;
        } else {
            self.steps.push(Step::File(at.clone()));
        }
        self.steps.push(Step::Bind {
            from: outside(path)?,
            at,
            read_only,
            devices,
        });
        Ok(())
    }

    fn grant(&mut self, grant: &Grant) -> Result<(), SandboxError> {
        self.bind(&grant.path, grant.is_folder, !grant.writable, false)
    }

    /// Shows a folder of the system, or the link that is in its place.
    fn system(&mut self, path: &Path) -> Result<(), SandboxError> {
        let Ok(found) = fs::symlink_metadata(path) else {
            return Ok(());
        };
        if found.is_symlink() {
            let to = fs::read_link(path).map_err(|source| SandboxError::Missing {
                path: path.to_owned(),
                source,
            })?;
            self.link(&to, path)
        } else if found.is_dir() {
            self.bind(path, true, true, false)
        } else {
            Ok(())
        }
    }

    fn link(&mut self, to: &Path, at: &Path) -> Result<(), SandboxError> {
        self.parents(at)?;
        self.steps.push(Step::Link {
            to: text(to.as_os_str())?,
            at: text(at.as_os_str())?,
        });
        Ok(())
    }

    /// Puts something empty over a path that is shown with its folder.
    fn hide(&mut self, path: &Path) -> Result<(), SandboxError> {
        let Ok(real) = path.canonicalize() else {
            return Ok(());
        };
        if !SYSTEM.iter().any(|folder| real.starts_with(folder)) {
            return Ok(());
        }
        let at = text(real.as_os_str())?;
        if real.is_dir() {
            let options = text(OsStr::new(FRAME))?;
            self.steps.push(Step::Scratch { at, options });
        } else {
            self.steps.push(Step::Bind {
                from: outside(Path::new("/dev/null"))?,
                at,
                read_only: true,
                devices: true,
            });
        }
        Ok(())
    }

    fn scratch(&mut self, path: &Path, options: &str) -> Result<(), SandboxError> {
        self.parents(path)?;
        self.folder(path)?;
        self.steps.push(Step::Scratch {
            at: text(path.as_os_str())?,
            options: text(OsStr::new(options))?,
        });
        Ok(())
    }

    fn devices(&mut self) -> Result<(), SandboxError> {
        let dev = Path::new("/dev");
        self.scratch(dev, FRAME)?;
        for device in DEVICES {
            self.bind(&dev.join(device), false, false, true)?;
        }
        self.scratch(&dev.join("shm"), SCRATCH_OF_ALL)?;
        self.folder(&dev.join("pts"))?;
        self.steps.push(Step::Terminals(c"/dev/pts".to_owned()));
        self.link(Path::new("pts/ptmx"), &dev.join("ptmx"))?;
        for (to, at) in [
            ("/proc/self/fd", "fd"),
            ("/proc/self/fd/0", "stdin"),
            ("/proc/self/fd/1", "stdout"),
            ("/proc/self/fd/2", "stderr"),
        ] {
            self.link(Path::new(to), &dev.join(at))?;
        }
        self.folder(Path::new("/proc"))?;
        self.steps.push(Step::Processes(c"/proc".to_owned()));
        Ok(())
    }

    /// Makes paths work that lead to what is shown by links.
    fn names(&mut self, paths: &[&Path]) -> Result<(), SandboxError> {
        for path in paths {
            let mut found: Vec<&Path> = path.ancestors().collect();
            found.reverse();
            for part in found {
                let is_system = SYSTEM.iter().any(|folder| part.starts_with(folder));
                if !is_system
                    && fs::symlink_metadata(part).is_ok_and(|found| found.is_symlink())
                    && let Ok(to) = part.canonicalize()
                {
                    self.link(&to, part)?;
                }
            }
        }
        Ok(())
    }
}

fn outside(path: &Path) -> Result<CString, SandboxError> {
    let mut whole = OsStr::new(OUTSIDE).to_owned();
    whole.push(path);
    text(&whole)
}

fn text(path: &OsStr) -> Result<CString, SandboxError> {
    CString::new(path.as_bytes()).map_err(|_| SandboxError::Missing {
        path: path.into(),
        source: io::ErrorKind::InvalidInput.into(),
    })
}
