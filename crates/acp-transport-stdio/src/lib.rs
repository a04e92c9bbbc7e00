//! A connection of the Agent Client Protocol over a child process, or over this
//! process's own stdin and stdout.
//!
//! [`acp_connection`] moves the messages, [`acp_process`] owns the processes;
//! this crate joins the two. No child outlives its owner, and stdout carries
//! nothing but messages.
//!
//! | you are | take |
//! |---|---|
//! | a client, and the agent is a program | [`dial`], or [`start`] for its pipes alone |
//! | an agent, and a client started you | [`serve_stdio`], or [`connect_stdio`] |
//!
//! ```no_run
//! use acp_process::Launch;
//! use acp_protocol::{rpc::Limits, v1::{InitializeRequest, ProtocolVersion}};
//! use acp_transport_stdio::{acp_connection::NoHandler, dial};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let launch = Launch::new("/usr/bin/my-agent").with_args(["--acp"]);
//! let (agent, child) = dial(launch, NoHandler, Limits::default()).await?;
//! let answer = agent.call(&InitializeRequest::new(ProtocolVersion::V1)).await?;
//! println!("process {} speaks version {}", child.pid(), answer.protocol_version.0);
//! # Ok(())
//! # }
//! ```

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod child;
mod own;

pub use acp_connection;
pub use acp_process;
pub use child::{ChildPipes, DialError, dial, start};
pub use own::{connect_stdio, serve_stdio};
