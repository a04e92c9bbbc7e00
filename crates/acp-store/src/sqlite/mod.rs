//! The history of the kit in an SQLite file: opened and checked, read and written by
//! two threads of its own.

mod connection;
mod error;
mod fault;
mod file;
mod history;
mod limits;
mod options;
mod record;
mod schema;
mod session;
mod worker;

pub use error::{OpenError, StoreError};
pub use history::SqliteHistory;
pub use options::{Durability, StoreOptions};
