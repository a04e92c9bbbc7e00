//! What the command line says of a kept session.

use std::time::Duration;

use clap::Args;

use super::busy::IfBusy;
use super::key::SessionName;
use crate::values::time;

/// Whether a run is part of a session that is kept, and of which.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Kept sessions")]
pub(crate) struct KeepArgs {
    /// Go on in the session of this name in this folder, or begin it; what is said is kept
    #[arg(long, short, value_name = "NAME")]
    pub(crate) session: Option<SessionName>,

    /// Go on in the session of this folder that was used last, or begin one named `default`
    #[arg(long = "continue", short = 'c', conflicts_with_all = ["session", "new", "resume"])]
    pub(crate) go_on: bool,

    /// Go on in the session that the agent calls this, and in no other; under the name
    /// ID if no other is given
    #[arg(long, value_name = "ID", conflicts_with = "new")]
    pub(crate) resume: Option<String>,

    /// Begin anew under the name, `default` if none is given; what was said before stays
    /// in its history
    #[arg(long)]
    pub(crate) new: bool,

    /// What to do when another turn runs in the session [default: wait]
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) if_busy: Option<IfBusy>,

    /// How long another turn is waited for, as 90, 90s, 5m or 1h [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) busy_timeout: Option<Duration>,
}

impl KeepArgs {
    /// Tells whether it is said what to do with a busy session, and not with which.
    pub(crate) fn is_half_said(&self) -> bool {
        let busy = self.if_busy.is_some() || self.busy_timeout.is_some();
        busy && !self.is_wanted()
    }

    /// Tells whether the run is part of a kept session.
    pub(crate) fn is_wanted(&self) -> bool {
        self.session.is_some() || self.go_on || self.resume.is_some() || self.new
    }
}
