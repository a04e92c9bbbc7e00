//! Where a list of sessions goes on: a token that only this agent can make.

use std::path::Path;

use acp_host::SessionId;
use data_encoding::HEXLOWER;
use hmac::{Hmac, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The key with which an agent signs its cursors; another one each time.
#[derive(Clone, Default)]
pub(in crate::serve) struct CursorKey([u8; 32]);

/// Why a cursor is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CursorError {
    /// It does not look like one of ours.
    Malformed,
    /// This agent did not sign it, or not for this filter.
    Tampered,
    /// It is signed, and makes no sense.
    InvalidPayload,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Payload {
    after: String,
}

impl CursorKey {
    /// A key of random bytes. `None` if the system gives none.
    pub(in crate::serve) fn random() -> Option<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).ok()?;
        Some(Self(key))
    }

    /// The cursor behind a session, for lists with this filter.
    pub(super) fn cursor(&self, after: &SessionId, cwd: Option<&Path>) -> String {
        let payload = Payload {
            after: after.as_str().to_owned(),
        };
        // A text in a structure can always be written as JSON.
        let payload = serde_json::to_vec(&payload).unwrap_or_default();
        let mac = self.mac(&payload, cwd).finalize().into_bytes();
        format!("{}.{}", HEXLOWER.encode(&payload), HEXLOWER.encode(&mac))
    }

    /// The session behind which a cursor goes on.
    pub(super) fn open(&self, cursor: &str, cwd: Option<&Path>) -> Result<SessionId, CursorError> {
        let (payload, mac) = cursor.split_once('.').ok_or(CursorError::Malformed)?;
        let payload = unhex(payload).ok_or(CursorError::Malformed)?;
        let mac = unhex(mac).ok_or(CursorError::Malformed)?;
        // In constant time.
        let verified = self.mac(&payload, cwd).verify_slice(&mac);
        verified.map_err(|_| CursorError::Tampered)?;
        let payload: Payload =
            serde_json::from_slice(&payload).map_err(|_| CursorError::InvalidPayload)?;
        SessionId::new(payload.after).map_err(|_| CursorError::InvalidPayload)
    }

    /// Signs a payload together with the filter for which it is meant.
    fn mac(&self, payload: &[u8], cwd: Option<&Path>) -> Hmac<Sha256> {
        let filter = match cwd {
            Some(cwd) => Sha256::digest(cwd.as_os_str().as_encoded_bytes()).into(),
            None => [0; 32],
        };
        let mut mac = Hmac::new_from_slice(&self.0).expect("a key may have any length");
        mac.update(&[u8::from(cwd.is_some())]);
        mac.update(&filter);
        mac.update(payload);
        mac
    }
}

impl CursorError {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "it is malformed",
            Self::Tampered => "not made by this agent for this list; begin the list anew",
            Self::InvalidPayload => "it makes no sense",
        }
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    // Longer than any cursor of ours: an id of 256 bytes, escaped.
    const MAX: usize = 8192;
    let text = Some(text).filter(|text| text.len() <= MAX)?;
    HEXLOWER.decode(text.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> SessionId {
        SessionId::new(text).unwrap()
    }

    #[test]
    fn a_cursor_is_good_for_its_list_alone() {
        let key = CursorKey::random().unwrap();
        let home = Some(Path::new("/home/ada"));
        let cursor = key.cursor(&id("s-\"7\""), home);
        assert_eq!(key.open(&cursor, home), Ok(id("s-\"7\"")));
        for other in [None, Some(Path::new("/home/bob")), Some(Path::new(""))] {
            assert_eq!(key.open(&cursor, other), Err(CursorError::Tampered));
        }
        let everywhere = key.cursor(&id("s"), None);
        assert_eq!(key.open(&everywhere, None), Ok(id("s")));
        assert_eq!(key.open(&everywhere, home), Err(CursorError::Tampered));
        let stranger = CursorKey::random().unwrap();
        assert_eq!(stranger.open(&cursor, home), Err(CursorError::Tampered));
    }

    #[test]
    fn every_changed_character_is_noticed() {
        let key = CursorKey([7; 32]);
        let cursor = key.cursor(&id("session-1"), None);
        for at in 0..cursor.len() {
            let mut changed = cursor.clone().into_bytes();
            changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(key.open(&changed, None).is_err(), "{changed}");
        }
    }

    #[test]
    fn what_is_no_cursor() {
        let key = CursorKey([7; 32]);
        let check = |cursor: &str, want: CursorError| {
            assert_eq!(key.open(cursor, None), Err(want), "{cursor:?}");
        };
        check("", CursorError::Malformed);
        check("7b7d", CursorError::Malformed);
        check("7b7d.0", CursorError::Malformed);
        check("7B7D.00", CursorError::Malformed);
        check("7b7d.00", CursorError::Tampered);
        check(".", CursorError::Tampered);
        let signed = |payload: &[u8]| {
            let mac = key.mac(payload, None).finalize().into_bytes();
            format!("{}.{}", HEXLOWER.encode(payload), HEXLOWER.encode(&mac))
        };
        check(&signed(b"{}"), CursorError::InvalidPayload);
        check(&signed(br#"{"after":""}"#), CursorError::InvalidPayload);
        check(
            &signed(br#"{"after":"s","more":1}"#),
            CursorError::InvalidPayload,
        );
        check(
            &signed(br#"{"after":"s"} "x""#),
            CursorError::InvalidPayload,
        );
    }
}
