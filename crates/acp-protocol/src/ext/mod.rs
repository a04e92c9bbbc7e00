//! Handwritten comfort for the generated types.

mod config;
mod content;
mod pair;
mod session;
mod tool;
