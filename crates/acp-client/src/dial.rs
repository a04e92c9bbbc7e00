//! One attempt to connect: start, introduce, check the version.

use std::sync::{Arc, PoisonError};

use acp_protocol::v1::{InitializeRequest, InitializeResponse, ProtocolVersion, methods};
use acp_transport_stdio::process::{ChildHandle, Ending};
use tokio::time::{Instant, sleep_until};

use crate::client::{Reader, Target, Writer};
use crate::connection::{Connection, Lease};
use crate::error::ClientError;
use crate::options::{ClientOptions, Timeouts};

/// The protocol version this client speaks.
const VERSION: ProtocolVersion = ProtocolVersion(1);

/// Connects once. `started` gets the connection as soon as there is something to end.
///
/// Dropped, or failed, it ends what it started.
pub(crate) async fn attempt(
    target: &Target,
    options: &Arc<ClientOptions>,
    started: impl FnOnce(&Arc<Connection>),
) -> Result<Arc<Lease>, ClientError> {
    let (reader, writer, child) = open(target).await?;
    let connection = Connection::start(reader, writer, child, Arc::clone(options));
    let lease = Lease::new(Arc::clone(&connection));
    started(&connection);
    match introduce(&connection).await {
        Ok(answer) => {
            connection.set_agent(Arc::new(answer));
            Ok(lease)
        }
        Err(error) => {
            if let Some(child) = connection.child() {
                child.end(Ending::Abort);
            }
            Err(error)
        }
    }
}

async fn open(target: &Target) -> Result<(Reader, Writer, Option<ChildHandle>), ClientError> {
    match target {
        Target::Streams(streams) => {
            let streams = streams
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            let (reader, writer) = streams.ok_or(ClientError::Closed)?;
            Ok((reader, writer, None))
        }
        Target::Launch(launch) => {
            let launch = launch.clone();
            // Starting a process takes milliseconds.
            let mut child = tokio::task::spawn_blocking(move || launch.spawn())
                .await
                .map_err(|_| ClientError::Closed)??;
            let (Some(stdin), Some(stdout)) = (child.take_stdin(), child.take_stdout()) else {
                return Err(ClientError::Closed);
            };
            Ok((Box::pin(stdout), Box::pin(stdin), Some(child.handle())))
        }
    }
}

async fn introduce(connection: &Connection) -> Result<InitializeResponse, ClientError> {
    let options = connection.options();
    let mut request =
        InitializeRequest::new(VERSION).with_client_capabilities(options.capabilities());
    if let Some(info) = &options.info {
        request = request.with_client_info(info.clone());
    }
    let start = Instant::now();
    let call = connection.peer().call(&request);
    tokio::pin!(call);
    let mut deadline = start + options.timeouts.initialize;
    let answer = loop {
        tokio::select! {
            biased;
            answer = &mut call => break answer,
            () = sleep_until(deadline) => {
                let later = extended(start, &options.timeouts, connection.child());
                if later <= deadline {
                    return Err(connection.timed_out(methods::INITIALIZE, start.elapsed()));
                }
                deadline = later;
            }
        }
    };
    match answer {
        Ok(answer) if answer.protocol_version == VERSION => {
            let agent = answer.agent_info.as_ref();
            tracing::debug!(
                agent.name = agent.map(|agent| agent.name.as_str()),
                agent.version = agent.map(|agent| agent.version.as_str()),
                "the agent answered"
            );
            Ok(answer)
        }
        Ok(answer) => Err(ClientError::VersionMismatch {
            got: answer.protocol_version.0,
        }),
        Err(error) => Err(connection.explain(methods::INITIALIZE, error).await),
    }
}

/// Until when the agent may take to answer: a while from the start, or from when it
/// last wrote to standard error, but not for ever.
fn extended(start: Instant, timeouts: &Timeouts, child: Option<&ChildHandle>) -> Instant {
    let last = child.and_then(|child| child.stderr_activity().last_at);
    let moved = last.map_or(start, |last| start.max(Instant::from_std(last)));
    (moved + timeouts.initialize).min(start + timeouts.initialize_patience.max(timeouts.initialize))
}
