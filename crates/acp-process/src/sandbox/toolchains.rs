//! Which parts of a home folder hold tools, and which hold keys.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Folders in a home folder that hold installed tools and no keys.
const TOOLS: [&str; 22] = [
    ".asdf",
    ".bun",
    ".cargo/bin",
    ".deno",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/claude",
    ".local/share/cursor-agent",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/uv",
    ".npm-global",
    ".nvm",
    ".opencode/bin",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman",
    ".volta",
    "go/bin",
];

/// Files and folders in a home folder that no sandbox shows, whatever is granted.
const SECRETS: [&str; 26] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".config/acp",
    ".local/state/acp",
    ".local/share/acp",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".mozilla",
    ".local/share/keyrings",
    ".password-store",
    ".kube",
    ".docker/config.json",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".cargo/credentials.toml",
    ".vault-token",
    "Library/Keychains",
    "Library/Application Support/Google/Chrome",
];

/// Returns the secret that a path holds, is, or lies within.
pub(super) fn secret_within(home: &Path, path: &Path) -> Option<PathBuf> {
    SECRETS
        .iter()
        .map(|secret| home.join(secret))
        .find(|secret| path.starts_with(secret) || (secret.starts_with(path) && secret.exists()))
}

/// Returns the paths that a program needs to run: itself, the packages around it, and
/// the tools of the home folder that are in `PATH`.
pub(super) fn of(home: &Path, program: &Path, searched: Option<&OsStr>) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = TOOLS.iter().map(|tools| home.join(tools)).collect();
    let searched = searched.map(std::env::split_paths);
    let folders = searched.into_iter().flatten();
    paths.extend(
        folders
            .filter(|folder| folder.is_absolute() && folder.ends_with("bin"))
            .filter(|folder| secret_within(home, folder).is_none() && !home.starts_with(folder)),
    );
    paths.extend(program.canonicalize().iter().map(|real| package_of(real)));
    // By the name it is called by too, which may be a link to elsewhere.
    paths.push(program.to_owned());
    paths
}

/// Returns the folder of packages that a script of Node.js lies in, else the file.
fn package_of(program: &Path) -> PathBuf {
    let outermost = program
        .ancestors()
        .filter(|folder| folder.ends_with("node_modules"))
        .last();
    outermost.unwrap_or(program).to_owned()
}
