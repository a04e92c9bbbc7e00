//! Removes secrets, and paths and addresses where that is asked for.

mod messages;
mod shapes;
mod stream;

use std::borrow::Cow;

use crate::Secret;
use crate::cut::cut_bytes;

pub use shapes::is_secret_name;
pub use stream::RedactStream;

/// Stands where a secret stood.
pub const REDACTED: &str = "[redacted]";

/// Removes from a text all that is nobody else's business.
///
/// Without being told anything it replaces
///
/// * values behind names that say that they are secret: members of JSON, variables,
///   headers, flags and their arguments, members of a query; all values under `env` and
///   `headers`;
/// * everything that looks like a key or token: `sk-…`, `ghp_…`, `AKIA…`, JSON web
///   tokens, private keys, `Bearer …`, passwords in addresses.
///
/// A shape finds only what looks like a secret, so tell the redactor the secrets you know.
/// JSON is read leniently and keeps its bytes but for secrets. Where a text cannot be
/// read, more of it is removed, not less. Redacting again changes nothing.
///
/// ```
/// use acp_text::Redactor;
///
/// let redactor = Redactor::new().with_secret("swordfish").hiding_paths().hiding_addresses();
/// assert_eq!(
///     redactor.redact("open /home/ada/.netrc: swordfish at https://example.com"),
///     "open [path]: [redacted] at [url]",
/// );
/// ```
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    /// Each as it is, and as it stands in JSON; longer ones first, since a shorter one may
    /// be part of them.
    secrets: Vec<Secret>,
    replaced: Vec<(String, String)>,
    hides: Hides,
}

/// Which shapes are replaced besides those of secrets.
#[derive(Clone, Copy, Debug, Default)]
struct Hides {
    addresses: bool,
    paths: bool,
    homes: bool,
}

/// Secrets of fewer characters are not searched for: they stand everywhere.
const SHORTEST: usize = 4;

/// How deep JSON is read that stands in strings of JSON.
const MAX_NESTED: usize = 3;

impl Redactor {
    /// Makes a redactor that knows the shapes of secrets.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces this text wherever it stands, unless it has fewer than four characters.
    #[must_use]
    pub fn with_secret(mut self, secret: impl Into<Secret>) -> Self {
        let secret = secret.into();
        if secret.expose().chars().count() >= SHORTEST {
            let escaped = Secret::from(messages::quoted(secret.expose()));
            let inside = escaped.expose();
            self.secrets
                .push(Secret::from(&inside[1..inside.len() - 1]));
            self.secrets.push(secret);
            self.secrets.sort_by(|a, b| {
                (b.expose().len(), b.expose()).cmp(&(a.expose().len(), a.expose()))
            });
            self.secrets.dedup();
        }
        self
    }

    /// Replaces the values of those variables whose names say that they are secret.
    #[must_use]
    pub fn with_variables<N, V>(self, variables: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: AsRef<str>,
        V: AsRef<str>,
    {
        variables
            .into_iter()
            .filter(|(name, _)| is_secret_name(name.as_ref()))
            .fold(self, |redactor, (_, value)| {
                redactor.with_secret(value.as_ref())
            })
    }

    /// Replaces a path, and all below it, by another.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>, by: impl Into<String>) -> Self {
        let path = path.into();
        if path.len() > 1 {
            self.replaced.push((path, by.into()));
            // Longer ones first: they may lie below shorter ones.
            self.replaced
                .sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        }
        self
    }

    /// Replaces absolute paths by `[path]`. A path with blanks in it is hidden up to its
    /// first blank.
    #[must_use]
    pub fn hiding_paths(mut self) -> Self {
        self.hides.paths = true;
        self
    }

    /// Replaces addresses by `[url]`.
    #[must_use]
    pub fn hiding_addresses(mut self) -> Self {
        self.hides.addresses = true;
        self
    }

    /// Replaces the home folders of users by those of `user`.
    #[must_use]
    pub fn hiding_homes(mut self) -> Self {
        self.hides.homes = true;
        self
    }

    /// Redacts by the rules of both.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        for secret in &other.secrets {
            self = self.with_secret(secret.clone());
        }
        for (path, by) in &other.replaced {
            self = self.with_path(path, by);
        }
        self.hides.addresses |= other.hides.addresses;
        self.hides.paths |= other.hides.paths;
        self.hides.homes |= other.hides.homes;
        self
    }

    /// Redacts a text, which may be JSON or hold it.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        self.within(text, usize::MAX, MAX_NESTED)
    }

    /// Redacts bytes. Bytes that are no text cannot be read, and are replaced wholly.
    #[must_use]
    pub fn redact_bytes(&self, bytes: &[u8]) -> String {
        std::str::from_utf8(bytes).map_or_else(|_| REDACTED.to_owned(), |text| self.redact(text))
    }

    /// Redacts at least so many bytes of the beginning of a text, and leaves the rest out.
    ///
    /// A shape of a secret that is cut may show its beginning, so ask for more than is
    /// shown.
    #[must_use]
    pub fn redact_beginning(&self, text: &str, bytes: usize) -> String {
        self.within(text, bytes, MAX_NESTED)
    }

    /// Redacts a text that may begin or end in the middle of a secret.
    #[must_use]
    pub fn redact_part(&self, text: &str) -> String {
        let (mut start, mut end) = (0, text.len());
        for secret in self.secrets.iter().map(Secret::expose) {
            let cuts = || secret.char_indices().map(|(at, _)| at).filter(|at| *at > 0);
            let begins = |at: &usize| *at >= SHORTEST && text.ends_with(&secret[..*at]);
            if let Some(at) = cuts().rev().find(begins) {
                end = end.min(text.len() - at);
            }
            let ends =
                |at: &usize| secret.len() - at >= SHORTEST && text.starts_with(&secret[*at..]);
            if let Some(at) = cuts().find(ends) {
                start = start.max(secret.len() - at);
            }
        }
        let gone = |gone: bool| if gone { REDACTED } else { "" };
        let middle = self.redact(&text[start..end.max(start)]);
        format!("{}{middle}{}", gone(start > 0), gone(end < text.len()))
    }

    /// Makes a redactor for text that comes in pieces.
    #[must_use]
    pub fn stream(&self) -> RedactStream {
        RedactStream::new(self.clone())
    }

    fn within(&self, text: &str, bytes: usize, nested: usize) -> String {
        if nested > 0 && text.trim_start().starts_with(['{', '[', '"']) {
            let (redacted, is_read) = messages::redact(self, text, bytes, nested);
            match is_read {
                true => redacted,
                // No strict JSON: names and shapes are searched for in all of it.
                false => self.plain(&redacted),
            }
        } else {
            self.plain(cut_bytes(text, bytes))
        }
    }

    /// Redacts a text that is no JSON.
    fn plain(&self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        for secret in self.secrets.iter().map(Secret::expose) {
            if text.contains(secret) {
                text = Cow::Owned(text.replace(secret, REDACTED));
            }
        }
        for (path, by) in &self.replaced {
            if text.contains(path) {
                text = Cow::Owned(text.replace(path, by));
            }
        }
        shapes::replace(text, self.hides)
    }
}
