//! Files that grant rights or run code, which no policy lets an agent write.
//!
//! An agent that may edit the files of a project could write a hook of git, a task of an
//! editor or the settings of the next agent, and so run whatever it likes later, outside
//! of every rule. These paths are protected: [`Policy`](crate::Policy) allows no change of
//! them at any level, [`WorkspaceFiles`](crate::WorkspaceFiles) writes none of them, and
//! only a person can allow one ([`AllowProtected`], or the answer to a permission request).
//!
//! This covers the files that an agent writes by way of this client, and the tool calls that
//! it asks about, by every path that they name: in their locations, in their diffs, and in
//! their raw input, where every text of one line is taken for a path, since each agent has
//! its own members for them. A raw input that was not read to its end (longer than a MiB,
//! more than a thousand such texts) may name anything, and no policy allows a change then.
//!
//! The raw input of a call that only reads, fetches, thinks or executes is left alone: a
//! command can write anything, and no look at its text tells what. An agent that acts
//! without asking is held by a sandbox alone.

mod address;
mod gate;
mod links;
mod list;
mod name;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use gate::DynAllowProtected;
pub use gate::{AllowProtected, ProtectedWrite};

use crate::limits::{MAX_PROTECTED, MAX_PROTECTED_NAME};

/// The paths that are protected: those that are built in, and those that were added.
///
/// Names are compared without regard to case and to what some file systems ignore, links
/// are followed, and all that lies below a protected folder is protected too. A file
/// with several names (hard links) counts as protected if another of them is a protected
/// one of the same folder of work, as far as these can be listed.
#[derive(Debug, Clone, Default)]
pub struct ProtectedPaths {
    added: Arc<Vec<Pattern>>,
}

/// A path that is protected.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProtectedPath {
    /// As it was named.
    pub path: PathBuf,
    /// Where it leads, if it leads elsewhere.
    pub target: Option<PathBuf>,
    /// The danger in writing there, a clause.
    pub reason: &'static str,
}

/// A pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtectedPatternError {
    /// It names nothing, or steps upwards.
    #[error("a protected path is one or more names, with `/` between them and without `..`")]
    NotNames,
    /// It is too long.
    #[error("a protected path has at most {MAX_PROTECTED_NAME} bytes")]
    TooLong,
    /// There are too many.
    #[error("at most {MAX_PROTECTED} protected paths can be added")]
    TooMany,
}

impl ProtectedPaths {
    /// Creates the list that is built in.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file or folder, by its name (`secrets.toml`) or by the last names of its path
    /// (`infra/prod`), wherever it lies. A name may begin with `*`, which stands for any
    /// beginning (`*.tfstate`); a pattern that ends in `$` protects a file of that name and
    /// nothing below a folder.
    ///
    /// # Errors
    ///
    /// [`ProtectedPatternError`] when it is no such name, or there are too many.
    pub fn with(mut self, pattern: &str) -> Result<Self, ProtectedPatternError> {
        if self.added.len() >= MAX_PROTECTED {
            return Err(ProtectedPatternError::TooMany);
        }
        let pattern = Pattern::parse(pattern, "it was declared protected")?;
        Arc::make_mut(&mut self.added).push(pattern);
        Ok(self)
    }

    /// Walks over the patterns, each with its reason: those that are built in, then those
    /// that were added.
    pub fn patterns(&self) -> impl Iterator<Item = (String, &'static str)> {
        let all = builtin().iter().chain(self.added.iter());
        all.map(|pattern| (pattern.to_string(), pattern.reason))
    }

    /// Tells whether a path is protected as it is spelled. Looks at no file.
    #[must_use]
    pub fn find_spelled(&self, path: &Path) -> Option<ProtectedPath> {
        Some(ProtectedPath {
            path: path.to_owned(),
            target: None,
            reason: self.reason(path)?,
        })
    }

    /// Tells whether a path is protected: as it is spelled, where its links lead, or by
    /// another name of the file. A relative path is taken from `cwd`. Looks at the file
    /// system, and so may block.
    #[must_use]
    pub fn find(&self, path: &Path, cwd: Option<&Path>) -> Option<ProtectedPath> {
        self.find_any([path], cwd)
    }

    /// Finds the first of several paths that is protected, as [`find`](Self::find) does.
    pub(crate) fn find_any<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a Path>,
        cwd: Option<&Path>,
    ) -> Option<ProtectedPath> {
        let mut names = links::OtherNames::default();
        let mut paths = paths.into_iter();
        paths.find_map(|path| {
            let address = address::path_of(path);
            let whole = address.as_deref().unwrap_or(path);
            let whole = cwd.map_or_else(|| whole.to_owned(), |cwd| cwd.join(whole));
            let found = self.find_followed(&whole).or_else(|| {
                let real = links::follow(&whole).pop()?;
                let (target, reason) = names.find(&real, cwd, self)?;
                Some(ProtectedPath {
                    path: PathBuf::new(),
                    target: Some(target),
                    reason,
                })
            })?;
            let path = path.to_owned();
            Some(ProtectedPath { path, ..found })
        })
    }

    /// Tells whether an absolute path is protected, as it is spelled or at any place to
    /// which its links lead.
    pub(crate) fn find_followed(&self, path: &Path) -> Option<ProtectedPath> {
        if let Some(found) = self.find_spelled(path) {
            return Some(found);
        }
        let places = match path.is_absolute() {
            true => links::follow(path),
            false => return None,
        };
        let reason = places.iter().find_map(|place| self.reason(place))?;
        Some(ProtectedPath {
            path: path.to_owned(),
            target: places.into_iter().next_back(),
            reason,
        })
    }

    /// Returns why a path is protected as it is spelled.
    fn reason(&self, path: &Path) -> Option<&'static str> {
        let names = name::folded(path);
        let all = builtin().iter().chain(self.added.iter());
        let mut all = all.filter(|pattern| pattern.matches(&names));
        all.next().map(|pattern| pattern.reason)
    }

    /// The patterns that name one path, to be looked for below a folder.
    fn literal(&self) -> impl Iterator<Item = (PathBuf, &'static str)> {
        let all = builtin().iter().chain(self.added.iter());
        let literal = all.filter(|pattern| !pattern.is_wide());
        literal.map(|pattern| (PathBuf::from(&pattern.spelled), pattern.reason))
    }
}

/// Names that follow one another in a path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    /// As it was written, without its `$`.
    spelled: String,
    /// Folded as names of paths are.
    names: Vec<String>,
    /// The last name is that of a file: nothing is below it.
    is_file: bool,
    reason: &'static str,
}

impl Pattern {
    fn parse(text: &str, reason: &'static str) -> Result<Self, ProtectedPatternError> {
        if text.len() > MAX_PROTECTED_NAME {
            return Err(ProtectedPatternError::TooLong);
        }
        let (path, is_file) = match text.strip_suffix('$') {
            Some(path) => (path, true),
            None => (text, false),
        };
        let is_plain = |name: &str| !matches!(name, "" | "." | ".." | "*" | "~");
        let path = path.trim_end_matches('/');
        if !path.split('/').all(is_plain) || path.contains('\0') {
            return Err(ProtectedPatternError::NotNames);
        }
        let names = name::folded(Path::new(path));
        match names.iter().all(|name| is_plain(name)) && !names.is_empty() {
            true => Ok(Self {
                spelled: path.to_owned(),
                names,
                is_file,
                reason,
            }),
            false => Err(ProtectedPatternError::NotNames),
        }
    }

    fn matches(&self, path: &[String]) -> bool {
        let is_run = |run: &[String]| {
            self.names
                .iter()
                .zip(run)
                .all(|(own, name)| fits(own, name))
        };
        match self.is_file {
            false => path.windows(self.names.len()).any(is_run),
            true => path
                .len()
                .checked_sub(self.names.len())
                .is_some_and(|at| is_run(&path[at..])),
        }
    }

    /// Whether it may name many paths of one folder.
    fn is_wide(&self) -> bool {
        self.names.iter().any(|name| name.starts_with('*'))
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.spelled)?;
        f.write_str(if self.is_file { "$" } else { "" })
    }
}

fn fits(own: &str, name: &str) -> bool {
    match own.strip_prefix('*') {
        Some(end) => name.ends_with(end),
        None => own == name,
    }
}

fn builtin() -> &'static [Pattern] {
    static BUILTIN: std::sync::LazyLock<Vec<Pattern>> = std::sync::LazyLock::new(|| {
        let groups = list::GROUPS.iter();
        let patterns = groups.flat_map(|group| {
            let words = group.patterns.split_whitespace();
            words.map(|word| Pattern::parse(word, group.reason))
        });
        patterns
            .collect::<Result<_, _>>()
            .expect("the list holds patterns")
    });
    &BUILTIN
}

impl std::fmt::Display for ProtectedPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(target) = &self.target {
            write!(f, ", which is {},", target.display())?;
        }
        write!(f, " is protected: {}", self.reason)
    }
}
