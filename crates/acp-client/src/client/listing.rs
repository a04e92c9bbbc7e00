//! A page of sessions as agents send it.

use acp_protocol::RawJson;
use acp_protocol::lenient::{self, Forgiven};
use acp_protocol::method::{Request, Side};
use acp_protocol::v1::{ListSessionsRequest, SessionInfo};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// `session/list`, whose answer is looked at before it is decoded: some agents number their
/// pages, and some leave the folder of a session out.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct ListSessions(pub(super) ListSessionsRequest);

impl Request for ListSessions {
    const METHOD: &'static str = ListSessionsRequest::METHOD;
    const SERVED_BY: Side = Side::Agent;
    type Response = ListedPage;
}

/// The answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedPage {
    #[serde(default)]
    sessions: Option<RawJson>,
    #[serde(default)]
    next_cursor: Option<RawJson>,
}

impl ListedPage {
    /// Returns the sessions, and how many could not be read. `cwd` is the folder whose
    /// sessions were asked for, if it was one.
    pub(super) fn sessions(&self, cwd: Option<&str>) -> (Vec<SessionInfo>, u64) {
        let rows = self.sessions.as_ref().map(RawJson::parse::<Vec<RawJson>>);
        let Some(Ok(rows)) = rows else {
            lenient::report("ListSessionsResponse", "sessions", Forgiven::Missing);
            return (Vec::new(), 0);
        };
        let (all, mut left_out) = (rows.len(), 0);
        let mut sessions = Vec::with_capacity(all);
        for row in rows {
            match row.parse().ok().or_else(|| within(&row, cwd?)) {
                Some(session) => sessions.push(session),
                None => {
                    lenient::report("ListSessionsResponse", "sessions", Forgiven::Item);
                    left_out += 1;
                }
            }
        }
        (sessions, left_out)
    }

    /// Returns where the next page begins.
    pub(super) fn next_cursor(&self) -> Option<String> {
        match self.next_cursor.as_ref()?.parse() {
            Ok(Value::String(cursor)) => Some(cursor),
            Ok(Value::Number(page)) => {
                lenient::report("ListSessionsResponse", "nextCursor", Forgiven::Number);
                Some(page.to_string())
            }
            Ok(Value::Null) => None,
            _ => {
                lenient::report("ListSessionsResponse", "nextCursor", Forgiven::Value);
                None
            }
        }
    }
}

/// Reads a row without a folder, which is that of the list.
fn within(row: &RawJson, cwd: &str) -> Option<SessionInfo> {
    let mut row: Map<String, Value> = row.parse().ok()?;
    if row.get("cwd").is_some_and(|cwd| !cwd.is_null()) {
        return None;
    }
    row.insert("cwd".to_owned(), cwd.into());
    let session = serde_json::from_value(Value::Object(row)).ok()?;
    lenient::report("SessionInfo", "cwd", Forgiven::Filled);
    Some(session)
}
