//! Floors: programs that do the least that the workloads need, without a library.
//!
//! `serde` reads and writes every message with typed values, one buffer, one write for
//! all that is ready: what honest work costs. `raw` writes ready-made bytes, or counts
//! lines: what the pipe costs.

mod agent;
mod client;

use std::fs::File;
use std::io::{self, Write, stdout};
use std::os::fd::AsFd;

pub(crate) use agent::agent;
pub(crate) use client::client;

/// Which floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Floor {
    /// Ready-made bytes, nothing read but what is asked
    Raw,
    /// Typed values
    Serde,
}

/// How much is written at once.
const FULL: usize = 64 * 1024;

/// Output that is written when it is full, or when somebody says so.
struct Out {
    bytes: Vec<u8>,
    stdout: File,
}

impl Out {
    /// Not through the buffer of the library's stdout, which looks for line feeds.
    fn new() -> io::Result<Self> {
        Ok(Self {
            bytes: Vec::with_capacity(2 * FULL),
            stdout: stdout().as_fd().try_clone_to_owned()?.into(),
        })
    }

    fn flush_if_full(&mut self) -> io::Result<()> {
        match self.bytes.len() >= FULL {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stdout.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}
