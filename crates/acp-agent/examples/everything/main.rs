//! A host with everything: each trait of `acp_agent::host` implemented by hand.
//!
//! It has no model. It keeps books: a prompt is a line that it writes into the
//! book of its session, once the user has allowed it; and there are errands, such
//! as `/copy /etc/hostname`, for which it needs the client. Run it under any client:
//!
//! ```text
//! cargo run -p acp-agent --example everything
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `library.rs` | what outlives a connection: books, options, who is logged in |
//! | `desk.rs` | a live session: turns, gates, events |
//! | `errands.rs` | turns that use the client: files, terminals, forms, a sub-agent |

mod desk;
mod errands;
mod library;

use library::Library;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = library::agent(&Library::default())?;
    tokio::spawn(async move { agent.serve_stdio().await }).await??;
    Ok(())
}
