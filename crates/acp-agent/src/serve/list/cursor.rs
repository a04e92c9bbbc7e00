//! Where a list of sessions goes on: a token that only this agent can make.

use std::{
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use acp_host::{CatalogPosition, SessionId};
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
    /// The seconds since 1970 and the nanoseconds in them, of its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<(i64, u32)>,
}

impl CursorKey {
    /// A key of random bytes. `None` if the system gives none.
    pub(in crate::serve) fn random() -> Option<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).ok()?;
        Some(Self(key))
    }

    /// The cursor behind a place, for lists with this filter.
    pub(super) fn cursor(&self, after: &CatalogPosition, cwd: Option<&Path>) -> String {
        let payload = Payload {
            after: after.id.as_str().to_owned(),
            at: after.updated_at.map(from_time),
        };
        // A text in a structure can always be written as JSON.
        let payload = serde_json::to_vec(&payload).unwrap_or_default();
        let mac = self.mac(&payload, cwd).finalize().into_bytes();
        format!("{}.{}", HEXLOWER.encode(&payload), HEXLOWER.encode(&mac))
    }

    /// The place behind which a cursor goes on.
    pub(super) fn open(
        &self,
        cursor: &str,
        cwd: Option<&Path>,
    ) -> Result<CatalogPosition, CursorError> {
        let (payload, mac) = cursor.split_once('.').ok_or(CursorError::Malformed)?;
        let payload = unhex(payload).ok_or(CursorError::Malformed)?;
        let mac = unhex(mac).ok_or(CursorError::Malformed)?;
        // In constant time.
        let verified = self.mac(&payload, cwd).verify_slice(&mac);
        verified.map_err(|_| CursorError::Tampered)?;
        let payload: Payload =
            serde_json::from_slice(&payload).map_err(|_| CursorError::InvalidPayload)?;
        let updated_at = match payload.at {
            Some(at) => Some(to_time(at).ok_or(CursorError::InvalidPayload)?),
            None => None,
        };
        let id = SessionId::new(payload.after).map_err(|_| CursorError::InvalidPayload)?;
        Ok(CatalogPosition { updated_at, id })
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
            Self::Tampered => "not made by this agent for this list; ask for the first page",
            Self::InvalidPayload => "it makes no sense",
        }
    }
}

/// A time as seconds since 1970, and the nanoseconds behind them.
fn from_time(time: SystemTime) -> (i64, u32) {
    let seconds = |since: Duration| i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => (seconds(since), since.subsec_nanos()),
        Err(before) => match before.duration() {
            before if before.subsec_nanos() == 0 => (-seconds(before), 0),
            before => (-seconds(before) - 1, 1_000_000_000 - before.subsec_nanos()),
        },
    }
}

fn to_time((seconds, nanos): (i64, u32)) -> Option<SystemTime> {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let whole = match seconds < 0 {
        true => UNIX_EPOCH.checked_sub(whole),
        false => UNIX_EPOCH.checked_add(whole),
    };
    whole?.checked_add(Duration::from_nanos(nanos.into()))
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

    fn id(text: &str) -> CatalogPosition {
        let id = SessionId::new(text).unwrap();
        let updated_at = None;
        CatalogPosition { updated_at, id }
    }

    #[test]
    fn times_are_kept_to_the_nanosecond() {
        let key = CursorKey([7; 32]);
        for time in [
            UNIX_EPOCH,
            UNIX_EPOCH + Duration::new(1_700_000_000, 999_999_999),
            UNIX_EPOCH - Duration::from_nanos(1),
            UNIX_EPOCH - Duration::new(7, 1),
            UNIX_EPOCH - Duration::from_secs(7),
        ] {
            let mut place = id("s");
            place.updated_at = Some(time);
            assert_eq!(key.open(&key.cursor(&place, None), None), Ok(place));
        }
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
