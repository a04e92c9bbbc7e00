//! The commands besides `acp run`: each reads, asks or writes one thing and ends.

pub(crate) mod agents;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod login;
pub(crate) mod man;
pub(crate) mod schema;
pub(crate) mod sessions;
