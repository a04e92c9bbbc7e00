//! The facts of sessions, as rows.

use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use acp_agent::{
    host::{CatalogEntry, CatalogOrder, CatalogQuery, SessionId},
    kit::StoredSession,
};
use rusqlite::{Connection, OptionalExtension as _, Row, named_params, params};

use super::fault::Fault;

/// The columns of a session, in the order in which [`entry`] reads them.
const COLUMNS: &str = "id, cwd, directories, title, updated_at";

/// The facts of a session, ready to be written.
#[derive(Debug)]
pub(crate) struct SessionRow {
    id: SessionId,
    cwd: Option<String>,
    directories: String,
    title: Option<String>,
    options: String,
}

impl SessionRow {
    pub(crate) fn of(session: &StoredSession) -> Result<Self, Fault> {
        let entry = &session.entry;
        let cwd = entry.cwd.as_deref().map(|cwd| cwd.to_str().ok_or(NotUtf8));
        Ok(Self {
            id: entry.id.clone(),
            cwd: cwd
                .transpose()
                .map_err(Fault::unwritable)?
                .map(str::to_owned),
            directories: json(&entry.additional_directories)?,
            title: entry.title.clone(),
            options: json(&session.options)?,
        })
    }
}

/// A path that other systems could not read.
#[derive(Debug, thiserror::Error)]
#[error("write down a path that is not UTF-8")]
struct NotUtf8;

/// Begins a session.
pub(crate) fn create(change: &Connection, facts: &SessionRow) -> Result<(), Fault> {
    let insert = "INSERT INTO session (id, cwd, directories, title, options, updated_at)
        VALUES (:id, :cwd, :directories, :title, :options, :now)
        ON CONFLICT (id) DO NOTHING";
    let rows = change.execute(
        insert,
        named_params! {
            ":id": facts.id.as_str(), ":cwd": facts.cwd, ":directories": facts.directories,
            ":title": facts.title, ":options": facts.options, ":now": micros(SystemTime::now()),
        },
    )?;
    if rows == 0 {
        Err(Fault::Exists)
    } else {
        Ok(())
    }
}

/// Replaces the facts of a session.
pub(crate) fn update(change: &Connection, facts: &SessionRow) -> Result<(), Fault> {
    let update = "UPDATE session
        SET cwd = :cwd, directories = :directories, title = :title, options = :options
        WHERE id = :id";
    let rows = change.execute(
        update,
        named_params! {
            ":id": facts.id.as_str(), ":cwd": facts.cwd, ":directories": facts.directories,
            ":title": facts.title, ":options": facts.options,
        },
    )?;
    if rows == 0 {
        Err(Fault::NotFound)
    } else {
        Ok(())
    }
}

/// Finds a session.
pub(crate) fn get(state: &Connection, id: &SessionId) -> Result<Option<StoredSession>, Fault> {
    let select = format!("SELECT {COLUMNS}, options, length FROM session WHERE id = ?1");
    let mut select = state.prepare(&select)?;
    let mut rows = select.query([id.as_str()])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let (options, length): (String, i64) = (row.get(5)?, row.get(6)?);
    let length = u64::try_from(length).map_err(|_| Fault::damaged("a length is negative"))?;
    let session = StoredSession::new(entry(row)?)
        .with_options(unjson(&options)?)
        .with_length(length);
    Ok(Some(session))
}

/// Lists sessions in an order, on from a place in it.
pub(crate) fn list(state: &Connection, query: &CatalogQuery) -> Result<Vec<CatalogEntry>, Fault> {
    // No id is empty and no time later, so all of them stand behind this place.
    let (at, after) = match &query.after {
        None => (i64::MAX, ""),
        // Each session here has a time; those without one stand behind all of them.
        Some(place) => (place.updated_at.map_or(i64::MIN, micros), place.id.as_str()),
    };
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let cwd = match query.cwd.as_deref().map(Path::to_str) {
        None => None,
        Some(Some(cwd)) => Some(cwd),
        // None was ever kept.
        Some(None) => return Ok(Vec::new()),
    };
    let mut select = state.prepare(&select_list(query.order, cwd.is_some()))?;
    let mut rows = match query.order {
        CatalogOrder::ById => match cwd {
            None => select.query(params![after, limit])?,
            Some(cwd) => select.query(params![after, limit, cwd])?,
        },
        _ => match cwd {
            None => select.query(params![after, limit, at])?,
            Some(cwd) => select.query(params![after, limit, at, cwd])?,
        },
    };
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        entries.push(entry(row)?);
    }
    Ok(entries)
}

fn select_list(order: CatalogOrder, in_folder: bool) -> String {
    let (filter, place, order) = match order {
        CatalogOrder::ById => ("cwd = ?3 AND", "id > ?1", "id"),
        // The first bound leads to the place in the index.
        _ => (
            "cwd = ?4 AND",
            "updated_at <= ?3 AND (updated_at < ?3 OR id > ?1)",
            "updated_at DESC, id",
        ),
    };
    let filter = if in_folder { filter } else { "" };
    format!("SELECT {COLUMNS} FROM session WHERE {filter} {place} ORDER BY {order} LIMIT ?2")
}

/// Forgets a session and its records.
pub(crate) fn delete(change: &Connection, id: &SessionId) -> Result<(), Fault> {
    change.execute("DELETE FROM session WHERE id = ?1", [id.as_str()])?;
    Ok(())
}

/// Forgets some of the sessions that have rested since then, and says how many.
pub(crate) fn prune(change: &Connection, since: i64, at_once: usize) -> Result<usize, Fault> {
    let delete = "DELETE FROM session WHERE key IN
        (SELECT key FROM session WHERE updated_at < ?1 LIMIT ?2)";
    let at_once = i64::try_from(at_once).unwrap_or(i64::MAX);
    Ok(change.execute(delete, params![since, at_once])?)
}

/// The key and the length of a session.
pub(crate) fn place(state: &Connection, id: &SessionId) -> Result<(i64, i64), Fault> {
    let select = "SELECT key, length FROM session WHERE id = ?1";
    let row = state.query_row(select, [id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)));
    row.optional()?.ok_or(Fault::NotFound)
}

/// A time in millionths of a second; those out of all reason at its ends.
pub(crate) fn micros(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
        Err(before) => {
            i64::try_from(before.duration().as_micros()).map_or(i64::MIN, std::ops::Neg::neg)
        }
    }
}

fn entry(row: &Row<'_>) -> Result<CatalogEntry, Fault> {
    let id: String = row.get(0)?;
    let id = SessionId::new(id).map_err(|_| Fault::damaged("an id of a session is none"))?;
    let directories: String = row.get(2)?;
    let mut entry = CatalogEntry::new(id);
    entry.cwd = row.get::<_, Option<String>>(1)?.map(PathBuf::from);
    entry.additional_directories = unjson(&directories)?;
    entry.title = row.get(3)?;
    entry.updated_at = time(row.get(4)?);
    Ok(entry)
}

fn time(micros: i64) -> Option<SystemTime> {
    let distance = Duration::from_micros(micros.unsigned_abs());
    if micros < 0 {
        UNIX_EPOCH.checked_sub(distance)
    } else {
        UNIX_EPOCH.checked_add(distance)
    }
}

fn json(value: &impl serde::Serialize) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(Fault::unwritable)
}

fn unjson<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(super::record::unreadable)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::sqlite::schema;

    /// Every way to find something follows an index: no table is read from one
    /// end to the other, and nothing is sorted.
    #[test]
    fn an_index_leads_to_everything() {
        let mut file = Connection::open_in_memory().unwrap();
        schema::upgrade(&mut file, schema::STEPS).unwrap();
        let check = |select: &str, want: &str| {
            let mut plan = file
                .prepare(&format!("EXPLAIN QUERY PLAN {select}"))
                .unwrap();
            // Without the parameters that it has.
            let steps = plan.raw_query().mapped(|row| row.get::<_, String>(3));
            let steps: Vec<_> = steps.map(Result::unwrap).collect();
            assert_eq!(steps.join("; "), want, "{select}");
        };
        check(
            &select_list(CatalogOrder::ById, false),
            "SEARCH session USING INDEX sqlite_autoindex_session_1 (id>?)",
        );
        check(
            &select_list(CatalogOrder::ById, true),
            "SEARCH session USING INDEX session_in_folder (cwd=? AND id>?)",
        );
        check(
            &select_list(CatalogOrder::NewestFirst, false),
            "SEARCH session USING INDEX session_by_time (updated_at<?)",
        );
        check(
            &select_list(CatalogOrder::NewestFirst, true),
            "SEARCH session USING INDEX session_in_folder_by_time (cwd=? AND updated_at<?)",
        );
        check(
            crate::sqlite::record::SELECT_PAGE,
            "SEARCH record USING INDEX sqlite_autoindex_record_1 (session=? AND position>?)",
        );
        // What a deleted session takes along.
        check(
            "SELECT key FROM record WHERE session = ?1",
            "SEARCH record USING COVERING INDEX sqlite_autoindex_record_1 (session=?)",
        );
    }

    #[test]
    fn times_are_kept_to_the_microsecond() {
        let check = |time: SystemTime, want: i64| {
            assert_eq!(micros(time), want);
            assert_eq!(super::time(want), Some(time));
        };
        check(UNIX_EPOCH, 0);
        check(UNIX_EPOCH + Duration::from_micros(1), 1);
        check(UNIX_EPOCH - Duration::from_micros(1), -1);
        check(
            UNIX_EPOCH + Duration::from_secs(4_000_000_000),
            4_000_000_000_000_000,
        );
    }
}
