//! RecordBody happened in a session, as rows.

use acp_agent::{
    host::{SessionId, TurnId},
    kit::{Page, Record, RecordBody},
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{
    StoreError,
    fault::Fault,
    limits::{PAGE_BYTES, PAGE_RECORDS},
    session,
};

/// The form in which records are written: JSON, as `serde` makes it of
/// [`RecordBody`]. A form that this program does not know is not read.
pub(crate) const FORM: i64 = 1;

/// Reads on in a session.
pub(crate) const SELECT_PAGE: &str = "SELECT position, turn, number, form, body FROM record
    WHERE session = ?1 AND position >= ?2 ORDER BY position";

/// A record, ready to be written.
#[derive(Debug)]
pub(crate) struct RecordRow<'a> {
    turn: &'a TurnId,
    number: i64,
    body: String,
}

/// Makes rows of records.
pub(crate) fn rows(records: &[Record], max: usize) -> Result<Vec<RecordRow<'_>>, Fault> {
    let rows = records.iter().map(|record| {
        let body = serde_json::to_string(&record.body).map_err(Fault::unwritable)?;
        let bytes = body.len();
        if bytes > max {
            return Err(Fault::Store(StoreError::TooLarge { bytes, max }));
        }
        let number = i64::try_from(record.number).map_err(Fault::unwritable)?;
        let turn = &record.turn;
        Ok(RecordRow { turn, number, body })
    });
    rows.collect()
}

/// Adds rows to a session, at a position that has to be its end. Rows that stand
/// there already are those of an attempt whose answer was lost.
pub(crate) fn append(
    change: &Connection,
    id: &SessionId,
    at: u64,
    rows: &[RecordRow<'_>],
) -> Result<(), Fault> {
    let (session, length) = session::place(change, id)?;
    let at = i64::try_from(at).map_err(|_| Fault::Moved)?;
    let there = usize::try_from(length - at).map_err(|_| Fault::Moved)?;
    if there > 0 && rows.is_empty() {
        return Err(Fault::Moved);
    }
    let (known, new) = rows.split_at(there.min(rows.len()));
    for (position, row) in (at..).zip(known) {
        let same = "SELECT 1 FROM record
            WHERE session = ?1 AND position = ?2 AND turn = ?3 AND number = ?4";
        let values = params![session, position, row.turn.as_str(), row.number];
        let found = change.query_row(same, values, |_| Ok(())).optional()?;
        found.ok_or(Fault::Moved)?;
    }
    if new.is_empty() {
        return Ok(());
    }
    let insert = "INSERT INTO record (session, position, turn, number, form, body)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut insert = change.prepare(insert)?;
    let mut end = length;
    for row in new {
        insert.execute(params![
            session,
            end,
            row.turn.as_str(),
            row.number,
            FORM,
            row.body
        ])?;
        end += 1;
    }
    let update = "UPDATE session SET length = ?2, updated_at = ?3 WHERE key = ?1";
    let now = session::micros(std::time::SystemTime::now());
    change.execute(update, params![session, end, now])?;
    Ok(())
}

/// Reads a page of a session.
pub(crate) fn read(state: &Connection, id: &SessionId, from: u64) -> Result<Page, Fault> {
    let (session, length) = session::place(state, id)?;
    let mut page = Page::new(Vec::new(), from);
    let Ok(from) = i64::try_from(from) else {
        return Ok(page);
    };
    let mut select = state.prepare(SELECT_PAGE)?;
    let mut rows = select.query(params![session, from])?;
    let (mut next, mut bytes) = (from, 0);
    while next < length && page.records.len() < PAGE_RECORDS && bytes < PAGE_BYTES {
        let row = rows.next()?;
        let row = row.ok_or_else(|| Fault::damaged("records are missing"))?;
        if row.get::<_, i64>(0)? != next {
            return Err(Fault::damaged("records are missing"));
        }
        let (record, size) = record(row)?;
        page.records.push(record);
        bytes += size;
        next += 1;
    }
    page.next += page.records.len() as u64;
    Ok(page)
}

fn record(row: &Row<'_>) -> Result<(Record, usize), Fault> {
    let (turn, number, found): (String, i64, i64) = (row.get(1)?, row.get(2)?, row.get(3)?);
    if found != FORM {
        let known = FORM;
        return Err(Fault::Store(StoreError::Newer { found, known }));
    }
    let number = u64::try_from(number).map_err(|_| Fault::damaged("a number is negative"))?;
    let body: String = row.get(4)?;
    let what: RecordBody = serde_json::from_str(&body).map_err(unreadable)?;
    Ok((Record::new(TurnId::from(turn), number, what), body.len()))
}

/// JSON that says something unknown, or is none. What `serde_json` says quotes the
/// session, so the cause, which is logged, has the place alone.
pub(crate) fn unreadable(error: serde_json::Error) -> Fault {
    let is_json = error.is_data();
    let source = format!("read the JSON at its byte {}", error.column()).into();
    Fault::Store(if is_json {
        StoreError::UnknownRecord { source }
    } else {
        StoreError::Damaged { source }
    })
}

/// Looks whether everything is there that should be.
pub(crate) fn check(state: &Connection) -> Result<(), Fault> {
    let first: String = state.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if first != "ok" {
        let source = first.into();
        return Err(Fault::Store(StoreError::Damaged { source }));
    }
    // Positions are unique and not negative: as many as the highest says are all.
    let gaps = "SELECT count(*) FROM session WHERE length <>
            (SELECT count(*) FROM record WHERE session = session.key)
        OR length <>
            (SELECT ifnull(max(position) + 1, 0) FROM record WHERE session = session.key)";
    let strays = "SELECT count(*) FROM record WHERE session NOT IN (SELECT key FROM session)";
    for (select, what) in [
        (gaps, "records are missing"),
        (strays, "records belong to no session"),
    ] {
        if state.query_row(select, [], |row| row.get::<_, i64>(0))? != 0 {
            return Err(Fault::damaged(what));
        }
    }
    Ok(())
}
