//! The profile of a sandbox for `sandbox-exec` of macOS.

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;

use super::{Grant, OsSandbox, SandboxError};

/// The program that holds another one to a profile.
#[cfg_attr(
    not(target_os = "macos"),
    expect(dead_code, reason = "macOS starts it")
)]
pub(crate) const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// What every program needs: the system for reading, its own processes, and the
/// devices that are no device. Sockets of services are reached by Mach names, of which
/// only those are granted without which no program with network works.
const BASE: &str = r#"(version 1)
(deny default)
(allow process-fork process-exec)
(allow signal process-info* (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
(allow file-read* (literal "/") (subpath "/System") (subpath "/usr") (subpath "/bin")
  (subpath "/sbin") (subpath "/Library/Apple") (subpath "/Library/Developer")
  (subpath "/opt") (subpath "/private/etc") (subpath "/private/var/db/timezone")
  (subpath "/dev/fd") (subpath "/nix"))
(deny file-read* (subpath "/private/etc/ssh") (literal "/private/etc/master.passwd")
  (literal "/private/etc/sudoers"))
(allow file-read* file-write* (literal "/dev/null") (literal "/dev/zero")
  (literal "/dev/random") (literal "/dev/urandom"))
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.SystemConfiguration.configd") (global-name "com.apple.trustd.agent"))
"#;
const NETWORK: &str = "(allow network-outbound network-inbound network-bind (remote ip) \
    (local ip))\n(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n(allow \
    system-socket)\n";
const LOOPBACK: &str = "(allow network* (local ip \"localhost:*\") (remote ip \"localhost:*\"))\n";

/// Writes the profile of a child that runs `program` and searches this `PATH`.
pub(crate) fn profile(
    sandbox: &OsSandbox,
    program: &Path,
    searched: Option<&OsStr>,
    scratch: &Path,
) -> Result<String, SandboxError> {
    let grants = sandbox.grants_for(program, searched)?;
    let mut text = BASE.to_owned();
    for Grant {
        path,
        writable,
        is_folder,
    } in &grants
    {
        let rights = if *writable {
            "file-read* file-write*"
        } else {
            "file-read*"
        };
        let kind = if *is_folder { "subpath" } else { "literal" };
        let _ = writeln!(text, "(allow {rights} ({kind} {}))", quoted(path)?);
    }
    let scratch = quoted(scratch)?;
    let _ = writeln!(text, "(allow file-read* file-write* (subpath {scratch}))");
    text.push_str(if sandbox.network { NETWORK } else { LOOPBACK });
    Ok(text)
}

/// Writes a path as a string of the profile's language.
fn quoted(path: &Path) -> Result<String, SandboxError> {
    let name = path
        .to_str()
        .filter(|name| !name.contains(char::is_control));
    let Some(name) = name else {
        return Err(SandboxError::Unsupported {
            missing: format!("{} cannot be named in a profile", path.display()),
        });
    };
    let escaped = name.replace('\\', "\\\\").replace('"', "\\\"");
    Ok(format!("\"{escaped}\""))
}
