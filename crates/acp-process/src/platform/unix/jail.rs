//! Makes the sandbox of a child, in the forks that lead to it.
//!
//! A child of the guard leaves for a user and a process namespace of its own; its child,
//! the first process in there, makes a root of the granted folders, moves into it, binds
//! itself and all its descendants by Landlock, and gives up every capability. Guard,
//! holder and child run below it, so there is nothing inside with more rights than the
//! child has.
//!
//! See `pre_exec` for what may be done here, and why this is `unsafe`. The `landlock`
//! crate needs memory for its rules, which is not to be had here: the rules name folders
//! that are only there once the root is made. So the three calls are made by hand.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

use rustix::fs::{Mode, OFlags};

use crate::sandbox::{Plan, SandboxError, Step};

/// The first Landlock with scopes for signals and abstract sockets (Linux 6.12).
const LANDLOCK_ABI: i64 = 6;
/// Every right on files that this version knows, devices included.
const ALL_FILES: u64 = 0xffff;
/// Execute, read a file, list a folder.
const READ: u64 = 1 << 0 | 1 << 2 | 1 << 3;
/// Those of [`ALL_FILES`] that mean something for a file.
const OF_A_FILE: u64 = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15;
/// Abstract sockets, signals.
const ALL_SCOPES: u64 = 1 << 0 | 1 << 1;

/// Steps that are not in the plan, by the number they are told by.
const NAMESPACES: u16 = u16::MAX;
const OWN_ID: u16 = u16::MAX - 1;
const OWN_MOUNTS: u16 = u16::MAX - 2;
const NEW_ROOT: u16 = u16::MAX - 3;
const LEAVE_OUTSIDE: u16 = u16::MAX - 4;
const LANDLOCK: u16 = u16::MAX - 5;
const CAPABILITIES: u16 = u16::MAX - 6;
const NETWORK: u16 = u16::MAX - 7;

/// Which step failed, and how.
pub(super) struct Failed {
    pub(super) step: u16,
    pub(super) errno: i32,
}

/// The work that makes a sandbox.
pub(super) struct Jail {
    plan: Plan,
    user_map: Vec<u8>,
    group_map: Vec<u8>,
}

/// Fails where no sandbox can be made at all.
pub(crate) fn check_sandbox() -> Result<(), SandboxError> {
    // SAFETY: no attributes and a size of 0 ask for the version.
    let abi = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            ptr::null::<u8>(),
            0_usize,
            1_u32,
        )
    };
    enough(abi)
}

/// Fails for a version of Landlock that does not keep out all that a sandbox promises. There
/// is no weaker level: without scopes its processes reach abstract sockets outside, and a
/// person who asked for a sandbox would not notice.
fn enough(abi: i64) -> Result<(), SandboxError> {
    if abi >= LANDLOCK_ABI {
        return Ok(());
    }
    let has = match abi {
        1.. => format!("version {abi}"),
        _ => "none".to_owned(),
    };
    Err(SandboxError::Unsupported {
        missing: format!(
            "Landlock version {LANDLOCK_ABI} (Linux 6.12) is needed, and {has} is here"
        ),
    })
}

impl Jail {
    pub(super) fn new(plan: Plan) -> Self {
        let map = |id: u32| format!("{id} {id} 1").into_bytes();
        Self {
            plan,
            user_map: map(rustix::process::geteuid().as_raw()),
            group_map: map(rustix::process::getegid().as_raw()),
        }
    }

    /// Says in words which step a number stands for.
    pub(super) fn explain(plan: &Plan, failed: &Failed) -> SandboxError {
        let step = match failed.step {
            NAMESPACES => "enter a user and a process namespace (may this account make some?)",
            OWN_ID => "stay the same user in the new user namespace",
            OWN_MOUNTS => "enter a mount namespace",
            NEW_ROOT => "make a new root",
            LEAVE_OUTSIDE => "leave the old root",
            LANDLOCK => "apply the Landlock rules",
            CAPABILITIES => "give up all capabilities",
            NETWORK => "enter a network namespace",
            _ => "",
        };
        let step = match plan.steps.get(usize::from(failed.step)) {
            Some(step) => format!("{step:?}"),
            None => step.to_owned(),
        };
        SandboxError::Step {
            step,
            source: io::Error::from_raw_os_error(failed.errno),
        }
    }

    /// Leaves for new namespaces; what is forked next is the first process in them.
    pub(super) fn leave(&self) -> Result<(), Failed> {
        at(
            NAMESPACES,
            unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWPID),
        )?;
        at(OWN_ID, write(c"/proc/self/setgroups", b"deny"))?;
        at(OWN_ID, write(c"/proc/self/uid_map", &self.user_map))?;
        at(OWN_ID, write(c"/proc/self/gid_map", &self.group_map))
    }

    /// Makes the root, moves in, and gives up all rights.
    pub(super) fn enter(&self) -> Result<(), Failed> {
        let plan = &self.plan;
        at(OWN_MOUNTS, unshare(libc::CLONE_NEWNS | libc::CLONE_NEWIPC))?;
        if !plan.network {
            at(NETWORK, unshare(libc::CLONE_NEWNET))?;
            at(NETWORK, loopback_up())?;
        }
        let private = libc::MS_REC | libc::MS_PRIVATE;
        at(OWN_MOUNTS, mount(c"none", c"/", None, private, None))?;
        at(NEW_ROOT, scratch(&plan.base, &plan.frame))?;
        at(NEW_ROOT, folder(&plan.outside_at_base))?;
        at(NEW_ROOT, {
            rustix::process::pivot_root(plan.base.as_c_str(), plan.outside_at_base.as_c_str())
                .map_err(io::Error::from)
        })?;
        at(NEW_ROOT, rustix::process::chdir(c"/").map_err(Into::into))?;
        for (number, step) in (0..).zip(&plan.steps) {
            at(number, take(step))?;
        }
        // SAFETY: a string with a NUL behind and a flag.
        let left = unsafe { libc::umount2(plan.outside.as_ptr(), libc::MNT_DETACH) };
        at(LEAVE_OUTSIDE, done(left.into()))?;
        at(LEAVE_OUTSIDE, {
            rustix::fs::rmdir(plan.outside.as_c_str()).map_err(io::Error::from)
        })?;
        let frame = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
        at(LEAVE_OUTSIDE, set_attributes(c"/", frame, false))?;
        at(LANDLOCK, self.landlock())?;
        at(CAPABILITIES, give_up_capabilities())
    }

    fn landlock(&self) -> io::Result<()> {
        #[repr(C)]
        struct Attributes {
            files: u64,
            network: u64,
            scopes: u64,
        }
        // A domain refuses every change of mounts, to trace or look into processes outside
        // it, and what its rules and scopes say.
        let attributes = Attributes {
            files: ALL_FILES,
            network: 0,
            scopes: ALL_SCOPES,
        };
        // SAFETY: the structure as the kernel has it, and its size.
        let rules = unsafe {
            libc::syscall(
                libc::SYS_landlock_create_ruleset,
                &raw const attributes,
                size_of::<Attributes>(),
                0_u32,
            )
        };
        let rules =
            i32::try_from(done(rules)?).map_err(|_| io::Error::from_raw_os_error(libc::EBADF))?;
        // SAFETY: a descriptor that was just made for us.
        let rules = unsafe { OwnedFd::from_raw_fd(rules) };
        allow(&rules, c"/", READ)?;
        for path in &self.plan.writable {
            match allow(&rules, path, ALL_FILES) {
                // It is a file.
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                    allow(&rules, path, OF_A_FILE)?;
                }
                result => result?,
            }
        }
        rustix::thread::set_no_new_privs(true)?;
        // SAFETY: two integers.
        let bound =
            unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0_u32) };
        done(bound).map(drop)
    }
}

fn take(step: &Step) -> io::Result<()> {
    match step {
        Step::Folder(at) => folder(at),
        Step::File(at) => {
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
            match rustix::fs::open(at.as_c_str(), flags, Mode::RUSR) {
                Ok(_) | Err(rustix::io::Errno::EXIST) => Ok(()),
                Err(errno) => Err(errno.into()),
            }
        }
        Step::Link { to, at } => match rustix::fs::symlink(to.as_c_str(), at.as_c_str()) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => Ok(()),
            Err(errno) => Err(errno.into()),
        },
        Step::Bind {
            from,
            at,
            read_only,
            devices,
        } => {
            mount(from, at, None, libc::MS_BIND | libc::MS_REC, None)?;
            let mut attributes = MOUNT_ATTR_NOSUID;
            if *read_only {
                attributes |= MOUNT_ATTR_RDONLY;
            }
            if !devices {
                attributes |= MOUNT_ATTR_NODEV;
            }
            set_attributes(at, attributes, true)
        }
        Step::Scratch { at, options } => scratch(at, options),
        Step::Processes(at) => {
            let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
            mount(c"proc", at, Some(c"proc"), flags, None)
        }
        Step::Terminals(at) => {
            let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
            let options = c"newinstance,ptmxmode=0666,mode=0620";
            mount(c"devpts", at, Some(c"devpts"), flags, Some(options))
        }
    }
}

fn folder(at: &CStr) -> io::Result<()> {
    match rustix::fs::mkdir(at, Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

fn scratch(at: &CStr, options: &CStr) -> io::Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV;
    mount(c"tmpfs", at, Some(c"tmpfs"), flags, Some(options))
}

fn write(path: &CStr, bytes: &[u8]) -> io::Result<()> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    if rustix::io::write(&file, bytes)? == bytes.len() {
        Ok(())
    } else {
        Err(rustix::io::Errno::IO.into())
    }
}

fn unshare(what: libc::c_int) -> io::Result<()> {
    // SAFETY: a flag word; this fork has one thread.
    done(unsafe { libc::unshare(what) }.into()).map(drop)
}

fn mount(
    from: &CStr,
    at: &CStr,
    kind: Option<&CStr>,
    flags: libc::c_ulong,
    options: Option<&CStr>,
) -> io::Result<()> {
    let pointer = |text: Option<&CStr>| text.map_or(ptr::null(), CStr::as_ptr);
    // SAFETY: strings with a NUL behind, or null.
    let mounted = unsafe {
        libc::mount(
            from.as_ptr(),
            at.as_ptr(),
            pointer(kind),
            flags,
            pointer(options).cast(),
        )
    };
    done(mounted.into()).map(drop)
}

const MOUNT_ATTR_RDONLY: u64 = 1;
const MOUNT_ATTR_NOSUID: u64 = 2;
const MOUNT_ATTR_NODEV: u64 = 4;

fn set_attributes(at: &CStr, set: u64, recursive: bool) -> io::Result<()> {
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        namespace: u64,
    }
    let attributes = Attributes {
        set,
        clear: 0,
        propagation: 0,
        namespace: 0,
    };
    let flags = if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: a string with a NUL behind, the structure as the kernel has it, its size.
    let changed = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            at.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    };
    done(changed).map(drop)
}

fn allow(rules: &OwnedFd, path: &CStr, rights: u64) -> io::Result<()> {
    #[repr(C, packed)]
    struct Rule {
        rights: u64,
        parent: i32,
    }
    let folder = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let rule = Rule {
        rights,
        parent: folder.as_raw_fd(),
    };
    // SAFETY: the structure as the kernel has it; 1 stands for it.
    let added = unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            rules.as_raw_fd(),
            1_u32,
            &raw const rule,
            0_u32,
        )
    };
    done(added).map(drop)
}

fn give_up_capabilities() -> io::Result<()> {
    use rustix::thread::{CapabilitySet, CapabilitySets};
    // A key ring of our own: that of the session holds what programs outside put there.
    // SAFETY: an integer and no name. A kernel without key rings has none to hide.
    unsafe { libc::syscall(libc::SYS_keyctl, 1, ptr::null::<u8>()) };
    for capability in 0..64_u32 {
        // SAFETY: integers; a number that is no capability is the end of them.
        if unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) } == -1 {
            match io::Error::last_os_error() {
                error if error.raw_os_error() == Some(libc::EINVAL) => break,
                error => return Err(error),
            }
        }
    }
    rustix::thread::clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(
        None,
        CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        },
    )?;
    // Changed rights hide a process from its own user, and we have to see its exit.
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::Dumpable)?;
    Ok(())
}

/// Turns on the one interface that a new network namespace has.
fn loopback_up() -> io::Result<()> {
    // SAFETY: integers.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    done(socket.into())?;
    // SAFETY: a descriptor that was just made for us.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    // SAFETY: a structure of integers and bytes, for which zeros are values.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = (*from).cast_signed() as libc::c_char;
    }
    #[expect(clippy::cast_possible_truncation, reason = "both are below 128")]
    const UP: libc::c_short = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    request.ifr_ifru.ifru_flags = UP;
    // SAFETY: the request that this number wants.
    let turned = unsafe {
        libc::ioctl(
            socket.as_raw_fd(),
            libc::SIOCSIFFLAGS as _,
            &raw mut request,
        )
    };
    done(turned.into()).map(drop)
}

fn done(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

fn at<T>(step: u16, result: io::Result<T>) -> Result<T, Failed> {
    result.map_err(|error| Failed {
        step,
        errno: error.raw_os_error().unwrap_or(libc::EIO),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_landlock_is_an_error_that_names_it() {
        let told = |abi| enough(abi).map_err(|error| error.to_string());
        for (abi, has) in [
            (-1, "none"),
            (0, "none"),
            (1, "version 1"),
            (5, "version 5"),
        ] {
            let error = format!(
                "make a sandbox: Landlock version 6 (Linux 6.12) is needed, and {has} is here"
            );
            assert_eq!(told(abi), Err(error));
        }
        assert_eq!((told(6), told(7)), (Ok(()), Ok(())));
    }
}
