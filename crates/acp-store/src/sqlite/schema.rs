//! The form of the file: its tables, and how an older form becomes a newer one.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::fault::Fault;

/// Marks the file as a session history (`ACPH`), at a fixed place in it.
pub(crate) const APPLICATION_ID: i64 = 0x4143_5048;

/// The steps that lead to the newest form; `user_version` says how many of them
/// a file has taken. A step that has been released is never changed.
pub(crate) const STEPS: &[&str] = &[
    // Sessions are keyed by a number of ours that is never used twice, so that a
    // session that is deleted and made anew is another one. `id` sorts by its
    // bytes. `record` is only appended to.
    "CREATE TABLE session (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        cwd TEXT,
        directories TEXT NOT NULL,
        title TEXT,
        options TEXT NOT NULL,
        updated_at INTEGER NOT NULL,
        length INTEGER NOT NULL DEFAULT 0 CHECK (length >= 0)
    ) STRICT;
    CREATE INDEX session_in_folder ON session (cwd, id);
    CREATE TABLE record (
        key INTEGER PRIMARY KEY,
        session INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
        position INTEGER NOT NULL CHECK (position >= 0),
        turn TEXT NOT NULL,
        number INTEGER NOT NULL CHECK (number >= 0),
        form INTEGER NOT NULL,
        body TEXT NOT NULL,
        UNIQUE (session, position)
    ) STRICT;",
    // Lists begin with the session in which something happened last.
    "CREATE INDEX session_by_time ON session (updated_at DESC, id);
    CREATE INDEX session_in_folder_by_time ON session (cwd, updated_at DESC, id);",
];

/// The newest form.
pub(crate) const NEWEST: i64 = STEPS.len() as i64;

/// Reads which form a file has.
pub(crate) fn form(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Reads as what a file is marked.
pub(crate) fn application_id(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "application_id", |row| row.get(0))
}

/// Brings a file to the form that the steps lead to, all at once or not at all.
/// One that has a newer form is left alone.
pub(crate) fn upgrade(connection: &mut Connection, steps: &[&str]) -> Result<(), Fault> {
    if taken(connection, steps)? == steps.len() {
        return Ok(());
    }
    let change = Transaction::new(connection, TransactionBehavior::Immediate)?;
    // Another process may have done it meanwhile.
    let taken = taken(&change, steps)?;
    for step in &steps[taken..] {
        change.execute_batch(step)?;
    }
    let newest = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    change.pragma_update(None, "user_version", newest)?;
    Ok(change.commit()?)
}

/// Checks that a file holds the tables and indexes that its form has, made as we make
/// them, and nothing else: what somebody planted may run or lie.
pub(crate) fn check(connection: &Connection, form: i64) -> Result<(), Fault> {
    let steps = usize::try_from(form)
        .ok()
        .and_then(|form| STEPS.get(..form));
    let steps = steps.ok_or_else(|| Fault::damaged("the number of its form is unknown"))?;
    let mut own = Connection::open_in_memory()?;
    upgrade(&mut own, steps)?;
    let (own, found) = (objects(&own)?, objects(connection)?);
    if let Some((name, _)) = own.iter().find(|object| !found.contains(object)) {
        return Err(Fault::damaged(format!(
            "the {name} is missing, or was changed"
        )));
    }
    match found.len() == own.len() {
        true => Ok(()),
        false => Err(Fault::damaged(
            "it holds tables, triggers or views of somebody else",
        )),
    }
}

/// What a file holds: each kind and name, and how it was made.
fn objects(connection: &Connection) -> rusqlite::Result<Vec<(String, Option<String>)>> {
    // We make far fewer; a file of more is refused without reading them all.
    let all = "SELECT type || ' ' || name, sql FROM sqlite_schema LIMIT 64";
    let mut all = connection.prepare(all)?;
    let rows = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// How many of the steps a file has taken.
fn taken(connection: &Connection, steps: &[&str]) -> Result<usize, Fault> {
    let found = form(connection)?;
    match usize::try_from(found) {
        Ok(taken) if taken <= steps.len() => Ok(taken),
        Ok(_) => Err(Fault::Store(super::StoreError::Newer {
            found,
            known: i64::try_from(steps.len()).unwrap_or(i64::MAX),
        })),
        Err(_) => Err(Fault::damaged("the number of its form is negative")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_files_take_the_steps_that_they_lack() {
        let mut file = Connection::open_in_memory().unwrap();
        let first = ["CREATE TABLE a (x) STRICT;"];
        let first = [&*first[0].replace("(x)", "(x TEXT)")];
        upgrade(&mut file, &first).unwrap();
        file.execute("INSERT INTO a VALUES ('kept')", []).unwrap();

        let broken = [first[0], "ALTER TABLE a ADD COLUMN y TEXT; NONSENSE;"];
        upgrade(&mut file, &broken).unwrap_err();
        assert_eq!(form(&file).unwrap(), 1);
        file.prepare("SELECT y FROM a").unwrap_err();

        let second = [first[0], "ALTER TABLE a ADD COLUMN y TEXT DEFAULT 'new';"];
        for _ in 0..2 {
            upgrade(&mut file, &second).unwrap();
            assert_eq!(form(&file).unwrap(), 2);
        }
        let row = file.query_row("SELECT x || y FROM a", [], |row| row.get::<_, String>(0));
        assert_eq!(row.unwrap(), "keptnew");

        // The program of the day before.
        let error = upgrade(&mut file, &first).unwrap_err();
        assert!(
            matches!(
                error,
                Fault::Store(crate::sqlite::StoreError::Newer { found: 2, known: 1 })
            ),
            "{error:?}"
        );
    }
}
