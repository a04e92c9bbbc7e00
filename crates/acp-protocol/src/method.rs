//! What a method is: its name, who serves it, and the types of its messages.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Who serves a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The agent: clients send it.
    Agent,
    /// The client: agents send it.
    Client,
    /// Both: either side may send it.
    Both,
}

/// Whether a method is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MethodKind {
    /// It is answered, exactly once.
    Request,
    /// It is not answered.
    Notification,
}

/// One row of the method table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Method {
    /// The name, as it stands on the wire.
    pub name: &'static str,
    /// Who serves it.
    pub served_by: Side,
    /// Whether it is answered.
    pub kind: MethodKind,
}

impl Method {
    /// Describes a method that is answered.
    pub const fn request(name: &'static str, served_by: Side) -> Self {
        Self {
            name,
            served_by,
            kind: MethodKind::Request,
        }
    }

    /// Describes a method that is not answered.
    pub const fn notification(name: &'static str, served_by: Side) -> Self {
        Self {
            name,
            served_by,
            kind: MethodKind::Notification,
        }
    }
}

/// Parameters of a method that is answered.
///
/// The generated request types implement it; implement it for your own types to
/// send extension methods (their names begin with `_`).
pub trait Request: Serialize + DeserializeOwned + Send + 'static {
    /// The name of the method.
    const METHOD: &'static str;
    /// Who serves it.
    const SERVED_BY: Side;
    /// What it is answered with.
    type Response: Serialize + DeserializeOwned + Send + 'static;
}

/// Parameters of a method that is not answered.
pub trait Notification: Serialize + DeserializeOwned + Send + 'static {
    /// The name of the method.
    const METHOD: &'static str;
    /// Who serves it.
    const SERVED_BY: Side;
}
