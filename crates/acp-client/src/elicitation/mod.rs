//! Questions: what an agent wants to know of the user, and who answers.
//!
//! The protocol calls it elicitation. An agent asks in one of two ways, and may use
//! only those that the client offers:
//!
//! * with a **form**: some fields, each with a type, which the user fills in;
//! * with a **link**: an address at which the user does something that is none of the
//!   client's business, as a login. The agent may tell later that it is done.
//!
//! As permissions, questions can be answered in two places: by a handler
//! ([`AnswerQuestions`], [`ClientOptions::with_elicitation`]) as soon as they come, or by
//! whoever reads the session, as a [`TurnEvent::Question`] in its place among the
//! updates ([`ClientOptions::with_elicitation_in_stream`]). A question may also belong to
//! no session but to a request of ours, as a login; then a handler answers it either
//! way.
//!
//! What is promised:
//!
//! * a way of asking that is not offered, or that nobody knows, is refused with -32602
//!   and shown to nobody (R209, R220);
//! * a question of more than [`MAX_QUESTION`] bytes, or with a form that nobody could
//!   fill in, is refused in the same way: the work on what is taken is bounded;
//! * an answer goes to the agent only if it fits the form: see [`ElicitationForm::check`] (R194,
//!   R201);
//! * a question that is open when its turn is cancelled, its session is closed, or the
//!   request it belongs to is answered, is answered `cancel` at once;
//! * the end of a link is told once, and only of links that the user agreed to or is
//!   being asked about (R208);
//! * texts of questions and answers are in no log, and in no `Debug`.
//!
//! Addresses are never opened by this crate (R214). Before a user agrees to one, show
//! them all of it (R215), and what [`ElicitationLink::cautions`] says of it (R217).
//!
//! [`MAX_QUESTION`]: crate::limits::MAX_QUESTION
//! [`ClientOptions::with_elicitation`]: crate::ClientOptions::with_elicitation
//! [`ClientOptions::with_elicitation_in_stream`]: crate::ClientOptions::with_elicitation_in_stream
//! [`TurnEvent::Question`]: crate::TurnEvent::Question

mod answer;
mod field;
mod form;
mod format;
mod handler;
mod headless;
mod link;
mod links;
mod modes;
mod patterns;
mod pending;
mod question;

pub use answer::ElicitationAnswer;
pub use field::FieldError;
pub use form::{ElicitationForm, FormError};
pub use handler::AnswerQuestions;
pub use headless::Headless;
pub use link::{ElicitationLink, LinkWarning};
pub use links::LinkStats;
pub use modes::ElicitationModes;
pub use pending::{InvalidAnswer, PendingQuestion};
pub use question::{Question, QuestionKind};

pub(crate) use links::{AskedLink, Links};
pub(crate) use modes::ElicitationOptions;

pub(crate) use handler::DynAnswerQuestions;
