//! Lists of sessions, page by page.

pub(super) mod cursor;

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use acp_connection::Context;
use acp_host::{CatalogEntry, CatalogPosition, CatalogQuery};
use acp_protocol::{
    Request,
    rpc::Fault,
    v1::{ListSessionsRequest, ListSessionsResponse, SessionId, SessionInfo},
};

use crate::{
    fault,
    host_call::call_host,
    limits::MAX_LIST_PAGE,
    refused::RefusedMember,
    serve::connection::{ConnectionState, Served},
    serve::setup::directory,
    wire::path_text,
    wire::rfc3339,
};

/// The most sessions on a page. Pages are read by people, a screen at a time.
const PAGE: usize = 100;

impl ConnectionState {
    pub(super) async fn list_sessions(
        self: Arc<Self>,
        params: Result<ListSessionsRequest, Fault>,
        context: Context,
    ) -> Served<ListSessionsResponse> {
        let method = ListSessionsRequest::METHOD;
        self.admit(method, &context).await?;
        let params = params?;
        let Some(catalog) = &self.agent.catalog else {
            return Err(Fault::method_not_found(method));
        };
        let refuse = |refused: RefusedMember| refused.into_fault(method);
        let cwd = params.cwd.as_deref().map(|cwd| directory("cwd", cwd));
        let cwd = cwd.transpose().map_err(refuse)?;
        let after = params
            .cursor
            .map(|cursor| self.agent.cursor_key.open(&cursor, cwd.as_deref()))
            .transpose()
            .map_err(|bad| {
                let expected = "the nextCursor of the page before, or none for the first page";
                refuse(RefusedMember::new("cursor", bad.as_str(), expected))
            })?;

        // One more than a page, so that the end is seen.
        let mut query = CatalogQuery::new(PAGE + 1);
        query.order = self.agent.catalog_order;
        (query.after, query.cwd) = (after, cwd);
        let call = call_host(|| catalog.list(query.clone()));
        let listed = context.run_until_cancelled(call).await;
        let entries = fault::called(method, listed.ok_or_else(Fault::cancelled)?)?;
        let page = Page::cut(entries, &query, &self.live_sessions.folders());
        let mut response = ListSessionsResponse::new(page.entries.into_iter().map(info));
        response.next_cursor = page
            .more_after
            .map(|after| self.agent.cursor_key.cursor(&after, query.cwd.as_deref()));
        Ok((response, None))
    }
}

/// One page of a list.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    entries: Vec<CatalogEntry>,
    /// There may be more behind this place.
    more_after: Option<CatalogPosition>,
}

impl Page {
    /// Cuts a page out of what the catalog gave, which may be everything in any
    /// order, or just what was asked for.
    fn cut(
        mut entries: Vec<CatalogEntry>,
        query: &CatalogQuery,
        live: &HashMap<SessionId, PathBuf>,
    ) -> Self {
        let given = entries.len();
        entries.retain(|entry| query.is_behind(entry));
        // Just what was asked for: the catalog may have more.
        let is_cut = given == query.limit && entries.len() == given;
        entries.sort_by(|a, b| query.order.compare(&a.position(), &b.position()));
        let mut ids = HashSet::new();
        entries.retain(|entry| ids.insert(entry.id.clone()));

        let mut page = Self {
            entries: Vec::new(),
            more_after: None,
        };
        let (mut seen, mut bytes) = (None, 0);
        let mut rest = entries.into_iter().peekable();
        while let Some(entry) = rest.peek_mut() {
            if let Some(cwd) = live.get(entry.id.as_str()) {
                entry.cwd = Some(cwd.clone());
            }
            let is_wanted = matches(entry.cwd.as_deref(), query.cwd.as_deref());
            if is_wanted {
                bytes += length(entry);
                if bytes > MAX_LIST_PAGE && !page.entries.is_empty() {
                    break;
                }
            }
            let Some(entry) = rest.next() else { break };
            seen = Some(entry.position());
            if is_wanted {
                page.entries.push(entry);
            }
            if page.entries.len() == PAGE {
                break;
            }
        }
        let is_more = rest.next().is_some() || is_cut;
        page.more_after = seen.filter(|_| is_more);
        page
    }
}

/// The bytes of a session on a page.
fn length(entry: &CatalogEntry) -> usize {
    let folders = entry.cwd.iter().chain(&entry.additional_directories);
    let folders = folders.map(|path| path.as_os_str().len()).sum::<usize>();
    entry.id.as_str().len() + folders + entry.title.as_ref().map_or(0, String::len)
}

/// Whether a session belongs on the list: its folder is known, and the one that
/// is asked for.
fn matches(cwd: Option<&Path>, wanted: Option<&Path>) -> bool {
    match (cwd, wanted) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(cwd), Some(wanted)) => cwd == wanted,
    }
}

fn info(entry: CatalogEntry) -> SessionInfo {
    let cwd = entry.cwd.as_deref().map(path_text).unwrap_or_default();
    let mut wire = SessionInfo::new(entry.id.to_shared(), cwd);
    wire.additional_directories = entry
        .additional_directories
        .iter()
        .map(|path| path_text(path))
        .collect();
    wire.title = entry.title.filter(|title| !title.is_empty());
    wire.updated_at = entry.updated_at.and_then(rfc3339);
    wire
}

#[cfg(test)]
mod tests;
