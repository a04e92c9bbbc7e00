//! Removes secrets, and paths and addresses where that is asked for.

mod known;
mod messages;
mod shapes;
mod stream;

use std::borrow::Cow;

use crate::Secret;
use crate::cut::cut_bytes;

use known::Known;
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
/// read, more of it is removed, not less.
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
    known: Known,
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

/// How deep JSON is read that stands in strings of JSON.
const MAX_NESTED: usize = 6;

/// How much of a text is read behind what is shown of it, so that a secret that lies across
/// the end is seen whole.
const MARGIN: usize = 4096;

impl Redactor {
    /// Makes a redactor that knows the shapes of secrets.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces this text wherever it stands, unless it has fewer than four characters:
    /// also where it is escaped as in JSON, addresses, pages or shells, and in base64 and
    /// hexadecimal digits.
    #[must_use]
    pub fn with_secret(mut self, secret: impl Into<Secret>) -> Self {
        self.known.add(secret.into());
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
        for secret in other.known.given() {
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

    /// Redacts a line of JSON; `None` when it cannot be read as JSON, since nobody knows
    /// what is secret in it then.
    ///
    /// It is read leniently: half a surrogate, a number out of range, a raw tab and a comma
    /// too many are no obstacles. A line that is cut, nested deeper than 256, or other text
    /// cannot be read.
    #[must_use]
    pub fn redact_json(&self, line: &[u8]) -> Option<String> {
        let text = std::str::from_utf8(line).ok()?;
        let (redacted, is_read) = messages::redact(self, text, usize::MAX, MAX_NESTED);
        is_read.then_some(redacted)
    }

    /// Redacts a text, and returns at most so many bytes of the beginning. The rest is not
    /// read, but for the 4 KiB behind.
    #[must_use]
    pub fn redact_beginning(&self, text: &str, bytes: usize) -> String {
        let redacted = self.within(text, bytes.saturating_add(MARGIN), MAX_NESTED);
        cut_bytes(&redacted, bytes).to_owned()
    }

    /// Redacts a text that may begin or end in the middle of a secret.
    #[must_use]
    pub fn redact_part(&self, text: &str) -> String {
        let kept = self.known.cut_off(text);
        let gone = |gone: bool| if gone { REDACTED } else { "" };
        let (before, behind) = (gone(kept.start > 0), gone(kept.end < text.len()));
        format!("{before}{}{behind}", self.redact(&text[kept]))
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
            let part = cut_bytes(text, bytes);
            let end = match part.len() == text.len() {
                true => part.len(),
                false => self.known.cut_off(part).end,
            };
            self.plain(&part[..end])
        }
    }

    /// Redacts a text that is no JSON.
    fn plain(&self, text: &str) -> String {
        let mut text = self.known.replace(text);
        for (path, by) in &self.replaced {
            if text.contains(path) {
                text = Cow::Owned(text.replace(path, by));
            }
        }
        shapes::replace(text, self.hides)
    }
}
