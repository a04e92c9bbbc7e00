//! The signals that recordings and scenarios name.

/// A signal that a recording or a scenario may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the signals say it all")]
pub enum SignalName {
    Hangup,
    Interrupt,
    Quit,
    Abort,
    Kill,
    Terminate,
}

/// Every signal with its name and number; these are the same on every Unix.
const SIGNALS: [(SignalName, &str, i32); 6] = [
    (SignalName::Hangup, "SIGHUP", 1),
    (SignalName::Interrupt, "SIGINT", 2),
    (SignalName::Quit, "SIGQUIT", 3),
    (SignalName::Abort, "SIGABRT", 6),
    (SignalName::Kill, "SIGKILL", 9),
    (SignalName::Terminate, "SIGTERM", 15),
];

impl SignalName {
    /// Returns every signal.
    pub fn all() -> impl Iterator<Item = Self> {
        SIGNALS.into_iter().map(|(signal, ..)| signal)
    }

    /// Returns the signal's name, such as `SIGTERM`.
    #[must_use]
    pub fn name(self) -> &'static str {
        SIGNALS[self as usize].1
    }

    /// Returns the signal's number.
    #[must_use]
    pub fn number(self) -> i32 {
        SIGNALS[self as usize].2
    }

    /// Finds a signal by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|signal| signal.name() == name)
    }

    /// Finds a signal by its number.
    #[must_use]
    pub fn numbered(number: i32) -> Option<Self> {
        Self::all().find(|signal| signal.number() == number)
    }
}

/// Writes a signal by its name where it has one here, and by its number elsewhere.
#[must_use]
pub fn signal_name(number: i32) -> String {
    SignalName::numbered(number).map_or_else(|| number.to_string(), |known| known.name().to_owned())
}
