//! The workloads, and how much there is of each.

use std::fmt;

use clap::ValueEnum;

/// What a peer is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Workload {
    /// Turns of one short update, one after the other
    Ping,
    /// One turn of many short updates
    Stream,
    /// One turn of large updates
    Big,
    /// One turn in which the agent asks the client, again and again
    Callback,
    /// Many sessions, opened at once, with a turn each (agents only)
    Sessions,
    /// Start, until `initialize`
    Startup,
    /// Large updates that the other side does not take
    Stuck,
}

/// How much of it: how often, and how many bytes each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
pub(crate) struct Amount {
    /// How often
    #[arg(long, short, default_value_t = 1000)]
    pub(crate) number: usize,
    /// How many bytes of text an update has
    #[arg(long, short, default_value_t = 40)]
    pub(crate) length: usize,
    /// No warming up: all that is done is what is asked for
    #[arg(long)]
    pub(crate) cold: bool,
}

impl Amount {
    pub(crate) fn of(number: usize, length: usize) -> Self {
        Self {
            number,
            length,
            cold: false,
        }
    }
}

impl Workload {
    /// How much is measured when nobody says otherwise; `short` proves that it works.
    pub(crate) fn amount(self, short: bool) -> Amount {
        const MEBIBYTE: usize = 1 << 20;
        let (number, length) = match (self, short) {
            (Self::Ping | Self::Callback, false) => (3000, 0),
            (Self::Ping | Self::Callback, true) => (50, 0),
            (Self::Stream, false) => (100_000, 40),
            (Self::Stream, true) => (2000, 40),
            (Self::Big, false) => (200, MEBIBYTE),
            (Self::Big, true) => (4, MEBIBYTE),
            (Self::Sessions, false) => (1000, 0),
            (Self::Sessions, true) => (20, 0),
            (Self::Startup, false) => (20, 0),
            (Self::Startup, true) => (2, 0),
            (Self::Stuck, false) => (1024, MEBIBYTE),
            (Self::Stuck, true) => (64, MEBIBYTE),
        };
        Amount::of(number, length)
    }

    /// The prompt that asks for it.
    pub(crate) fn prompt(self, amount: Amount) -> String {
        let Amount { number, length, .. } = amount;
        match self {
            Self::Ping | Self::Sessions | Self::Startup => "PING".to_owned(),
            Self::Stream => format!("STREAM {number} {length}"),
            Self::Big | Self::Stuck => format!("BIG {number} {length}"),
            Self::Callback => format!("CALLBACK {number}"),
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.to_possible_value();
        f.write_str(name.as_ref().map_or("", |value| value.get_name()))
    }
}

/// So many bytes of text; a line feed, which JSON escapes, in every 45.
pub(crate) fn text(length: usize) -> String {
    let pattern = "The quick brown fox jumps over the lazy dog.\n";
    pattern.chars().cycle().take(length).collect()
}
