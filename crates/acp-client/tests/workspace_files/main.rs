//! Files below the folders of a session: what is inside is right, the rest is refused.
#![cfg(target_os = "linux")]

#[path = "../support/mod.rs"]
mod agent;
mod escapes;
mod protected;
mod races;
mod reading;
mod support;
mod wire;
mod writing;
