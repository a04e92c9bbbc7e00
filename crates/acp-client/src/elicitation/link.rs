//! An address the user is asked to go to.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use acp_protocol::v1::ElicitationId;
use regex::Regex;

use super::{ElicitationAnswer, FieldError, FormError};

/// An address, and what there is to say about it.
///
/// Its `Debug` tells the host alone: the rest may hold secrets.
#[derive(Clone, Copy)]
pub struct ElicitationLink<'a> {
    id: &'a ElicitationId,
    url: &'a str,
}

/// What a user should know before they go to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkWarning {
    /// It is not encrypted: no `https` (R212).
    NotHttps,
    /// It opens something else than a page of the web, as a program.
    NotWeb,
    /// The name of the host holds letters outside of ASCII in disguise (R217).
    Punycode,
    /// It carries a name or a password, which can pass for the host.
    Credentials,
    /// Its host cannot be told for sure: programs read such addresses differently.
    Unclear,
}

impl<'a> ElicitationLink<'a> {
    pub(crate) fn new(id: &'a ElicitationId, url: &'a str) -> Self {
        Self { id, url }
    }

    /// Returns the agent's name for it, which says nothing (R206).
    #[must_use]
    pub fn id(self) -> &'a ElicitationId {
        self.id
    }

    /// Returns the whole address. Show all of it (R215), and do not open it before the
    /// user agreed (R214).
    #[must_use]
    pub fn url(self) -> &'a str {
        self.url
    }

    /// Returns the host where the user would go, lower-case, if that is beyond doubt:
    /// `None` for an address that programs may read differently.
    #[must_use]
    pub fn host(self) -> Option<String> {
        host(self.url).map(|host| host.to_ascii_lowercase())
    }

    /// Returns what is odd about the address; nothing for a plain one.
    #[must_use]
    pub fn cautions(self) -> Vec<LinkWarning> {
        let mut cautions = Vec::new();
        let scheme = self.url.split_once(':').map_or("", |(scheme, _)| scheme);
        if !scheme.eq_ignore_ascii_case("https") {
            cautions.push(if scheme.eq_ignore_ascii_case("http") {
                LinkWarning::NotHttps
            } else {
                LinkWarning::NotWeb
            });
        }
        let host = self.host();
        if authority(self.url).is_some_and(|authority| authority.contains('@')) {
            cautions.push(LinkWarning::Credentials);
        }
        match host {
            None => cautions.push(LinkWarning::Unclear),
            Some(host) => {
                if host.split('.').any(|label| label.starts_with("xn--")) {
                    cautions.push(LinkWarning::Punycode);
                }
            }
        }
        cautions
    }

    pub(crate) fn check(self, answer: &ElicitationAnswer) -> Result<(), Vec<FormError>> {
        let fields = answer.fields();
        let faults = fields.map(|(name, _)| FormError::new(name, FieldError::NoSuchField));
        FormError::none_of(faults.collect())
    }
}

impl fmt::Debug for ElicitationLink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("id", &self.id)
            .field("host", &self.host())
            .finish_non_exhaustive()
    }
}

/// Returns what stands between `//` and the path.
fn authority(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    rest.split(['/', '?', '#', '\\']).next()
}

/// Returns the host of an address of the web that everybody reads the same way: no
/// user, no backslash, and nothing that is no visible character of ASCII.
fn host(url: &str) -> Option<&str> {
    static WEB: LazyLock<Regex> = LazyLock::new(|| {
        let name = r"(?:[A-Za-z0-9_-]+\.)*[A-Za-z0-9_-]+\.?";
        let pattern = format!(r"^(?i:https?)://(\[[^\]]*\]|{name})(?::[0-9]*)?(?:[/?#]|$)");
        Regex::new(&pattern).expect("a pattern of our own is valid")
    });
    if url.contains(|c: char| !c.is_ascii_graphic() || c == '\\') {
        return None;
    }
    let host = WEB.captures(url)?.get(1)?.as_str();
    let address = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let plain = match address {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => {
            let name = host.strip_suffix('.').unwrap_or(host);
            !ends_in_number(name) || name.parse::<Ipv4Addr>().is_ok()
        }
    };
    plain.then_some(host)
}

/// Tells whether the last label is a number. If the whole is not four of them (`0x7f.1`,
/// `127.1`), some programs read it as an address all the same.
fn ends_in_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    last.bytes().all(|byte| byte.is_ascii_digit())
        || last.starts_with("0x")
        || last.starts_with("0X")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, host: Option<&str>, cautions: &[LinkWarning]) {
        let id = ElicitationId::from("e");
        let link = ElicitationLink::new(&id, url);
        assert_eq!(link.host().as_deref(), host, "{url}");
        assert_eq!(link.cautions(), cautions, "{url}");
    }

    #[test]
    fn plain_addresses_tell_their_host() {
        check(
            "https://Login.Example.com/a?b=c#d",
            Some("login.example.com"),
            &[],
        );
        check(
            "https://example.com:8443?next=//evil.com",
            Some("example.com"),
            &[],
        );
        check("https://example.com./", Some("example.com."), &[]);
        check(
            "https://example.com/@evil.com:80/",
            Some("example.com"),
            &[],
        );
        check("HTTPS://127.0.0.1:1/", Some("127.0.0.1"), &[]);
        check("https://[::1]:1/", Some("[::1]"), &[]);
        check("https://[::1]", Some("[::1]"), &[]);
        check(
            "http://localhost/",
            Some("localhost"),
            &[LinkWarning::NotHttps],
        );
        check(
            "https://xn--exmple-cua.com",
            Some("xn--exmple-cua.com"),
            &[LinkWarning::Punycode],
        );
    }

    #[test]
    fn what_programs_read_differently_tells_no_host() {
        use LinkWarning::{Credentials, NotWeb, Unclear};
        check("https://good.com@evil.com/", None, &[Credentials, Unclear]);
        check(
            "https://good.com:pass@evil.com/",
            None,
            &[Credentials, Unclear],
        );
        check("https://good.com\\@evil.com/", None, &[Unclear]);
        check("https://good.com\t.evil.com/", None, &[Unclear]);
        check("https://good.com/\u{202e}moc.live", None, &[Unclear]);
        check("https://exämple.com/", None, &[Unclear]);
        check("https://example.com:x/", None, &[Unclear]);
        check("https://exa%6dple.com/", None, &[Unclear]);
        check("https:///evil.com/", None, &[Unclear]);
        check("https:evil.com", None, &[Unclear]);
        check("https://0x7f.1/", None, &[Unclear]);
        check("https://127.1/", None, &[Unclear]);
        check("https://2130706433/", None, &[Unclear]);
        check("https://[::1/", None, &[Unclear]);
        check("javascript:alert(1)", None, &[NotWeb, Unclear]);
        check("file:///etc/passwd", None, &[NotWeb, Unclear]);
        check("example.com", None, &[NotWeb, Unclear]);
        check("", None, &[NotWeb, Unclear]);
    }

    #[test]
    fn the_address_does_not_show() {
        let id = ElicitationId::from("e");
        let shown = format!(
            "{:?}",
            ElicitationLink::new(&id, "https://example.com/hunter2")
        );
        assert!(
            shown.contains("example.com") && !shown.contains("hunter2"),
            "{shown}"
        );
    }
}
