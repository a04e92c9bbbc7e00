//! Handwritten comfort for the generated types.

mod config;
mod content;
mod session;
mod tool;
