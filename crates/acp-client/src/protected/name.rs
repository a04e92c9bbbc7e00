//! How names of files are compared.

use std::path::{Component, Path};

/// Returns the names of a path as the most lenient of file systems compares them.
///
/// `.GIT`, `.git.` and `.git::$INDEX_ALLOCATION` are `.git` on some systems, and so is
/// `.git` with an invisible character in it. Where they are other files, asking once too
/// often does no harm.
pub(super) fn folded(path: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            // A backslash parts names on Windows, and a name of Unix may hold one.
            Component::Normal(name) => {
                let name = name.to_string_lossy();
                names.extend(name.split('\\').map(fold));
            }
            // By name alone: what was stepped out of might have been a link.
            Component::ParentDir => {
                names.pop();
            }
            _ => {}
        }
    }
    names
}

fn fold(name: &str) -> String {
    // The main stream of a file on NTFS; a name of Unix may hold a colon, and its start
    // is then compared.
    let name = name.split_once(':').map_or(name, |(file, _)| file);
    let seen = name.chars().filter(|c| !is_ignored(*c));
    let folded: String = seen
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect();
    // Windows ignores dots and spaces at the end.
    let trimmed = folded.trim_end_matches(['.', ' ']);
    match short_name(trimmed) {
        Some(long) => long.to_owned(),
        None => trimmed.to_owned(),
    }
}

/// Characters that HFS+ ignores when it compares names.
fn is_ignored(c: char) -> bool {
    matches!(
        c,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
    )
}

/// The long name behind a short one of Windows, as far as it is one of these.
fn short_name(name: &str) -> Option<&'static str> {
    const SHORT: &[(&str, &str)] = &[
        ("git", ".git"),
        ("ssh", ".ssh"),
        ("husky", ".husky"),
        ("envrc", ".envrc"),
        ("vscode", ".vscode"),
        ("idea", ".idea"),
        ("acptom", ".acp.toml"),
        ("acp", ".acp.toml"),
        ("github", ".github"),
    ];
    let (beginning, number) = name.split_once('~')?;
    if number.is_empty() || !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let found = SHORT.iter().find(|(short, _)| *short == beginning);
    found.map(|(_, long)| *long)
}
