//! The store, in this process and on real files.

mod bounds;
mod erase;
mod form;
mod open;
mod sessions;
mod sharing;
mod support;
