//! The two sides of a conversation.

/// One of the two sides of a conversation.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "lowercase")]
pub enum PeerSide {
    /// Starts the agent and prompts it; its lines are written `->`.
    Client,
    /// Is started and answers; its lines are written `<-`.
    Agent,
}

impl PeerSide {
    /// Returns the other side.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Agent,
            Self::Agent => Self::Client,
        }
    }

    /// Returns the arrow that begins what this side does.
    #[must_use]
    pub fn arrow(self) -> &'static str {
        match self {
            Self::Client => "->",
            Self::Agent => "<-",
        }
    }

    /// Returns the side's name: `client` or `agent`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Finds a side by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}
