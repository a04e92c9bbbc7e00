//! Commands that the client runs for a session.

use std::sync::Arc;

use acp_host::{
    ClientCallError, CreateTerminal, HostFuture, Terminal, TerminalExit, TerminalOutput,
    TerminalPort,
};
use acp_protocol::{
    rpc::OnDrop,
    v1::{
        CreateTerminalRequest, EnvVariable, KillTerminalRequest, ReleaseTerminalRequest,
        TerminalId, TerminalOutputRequest, WaitForTerminalExitRequest,
    },
};
use tokio::sync::oneshot;

use crate::{
    session::SessionCore,
    session::client_calls::{call, check_absolute, client_error},
    wire::path_text,
};

/// Lets the client run a command, if it said that it can.
///
/// The call runs on a task of its own: if nobody waits for the terminal any
/// more, it is released as soon as there is one.
pub(crate) async fn create(
    core: &Arc<SessionCore>,
    request: CreateTerminal,
) -> Result<Terminal, ClientCallError> {
    if !core.client.terminal {
        return Err(ClientCallError::Unsupported);
    }
    if let Some(cwd) = &request.cwd {
        check_absolute(cwd)?;
    }
    let cancel = core.turns().client_calls()?;
    let mut wire = CreateTerminalRequest::new(&core.id, request.command);
    wire.args = request.args;
    wire.env = request
        .env
        .into_iter()
        .map(|(name, value)| EnvVariable::new(name, value.expose()))
        .collect();
    wire.cwd = request.cwd.as_deref().map(path_text);
    wire.output_byte_limit = request.output_byte_limit;

    let (sender, created) = oneshot::channel();
    let core = Arc::clone(core);
    core.runtime.clone().spawn(async move {
        let created = core.peer().call(&wire).await.map_err(client_error);
        let created = created.map(|response| ClientTerminal {
            id: response.terminal_id,
            core,
            is_released: false,
        });
        // Nobody waits for it: dropping what comes back releases it.
        drop(sender.send(created));
    });
    let created = match cancel {
        Some(cancel) => cancel.run_until_cancelled(created).await,
        None => Some(created.await),
    };
    match created.ok_or(ClientCallError::Cancelled)? {
        Ok(created) => created.map(Terminal::new),
        Err(_) => Err(ClientCallError::Closed),
    }
}

/// One terminal of one session.
struct ClientTerminal {
    id: TerminalId,
    core: Arc<SessionCore>,
    is_released: bool,
}

impl TerminalPort for ClientTerminal {
    fn id(&self) -> &str {
        self.id.as_str()
    }

    fn output(&self) -> HostFuture<'_, Result<TerminalOutput, ClientCallError>> {
        Box::pin(async {
            let request = TerminalOutputRequest::new(&self.core.id, &self.id);
            let output = call(&self.core, &request).await?;
            let exit = output
                .exit_status
                .map(|exit| TerminalExit::new(exit.exit_code, exit.signal));
            Ok(TerminalOutput::new(output.output, output.truncated, exit))
        })
    }

    fn wait(&self) -> HostFuture<'_, Result<TerminalExit, ClientCallError>> {
        Box::pin(async {
            let request = WaitForTerminalExitRequest::new(&self.core.id, &self.id);
            let exit = call(&self.core, &request).await?;
            Ok(TerminalExit::new(exit.exit_code, exit.signal))
        })
    }

    fn kill(&self) -> HostFuture<'_, Result<(), ClientCallError>> {
        Box::pin(async {
            // Also behind a cancellation, which may be the reason for it.
            self.core.turns().client_calls()?;
            let request = KillTerminalRequest::new(&self.core.id, &self.id);
            let killed = self.core.peer().call(&request).await;
            killed.map(drop).map_err(client_error)
        })
    }

    fn release(mut self: Box<Self>) -> HostFuture<'static, Result<(), ClientCallError>> {
        self.is_released = true;
        if let Err(closed) = self.core.turns().client_calls() {
            return Box::pin(std::future::ready(Err(closed)));
        }
        let request = ReleaseTerminalRequest::new(&self.core.id, &self.id);
        // Asked for now, whoever waits for the answer.
        let call = self.core.peer().start_call(&request);
        let call = call.map(|call| call.with_on_drop(OnDrop::Forget));
        Box::pin(async move {
            let call = call.map_err(client_error)?;
            call.result().await.1.map(drop).map_err(client_error)
        })
    }
}

impl Drop for ClientTerminal {
    fn drop(&mut self) {
        // The terminals of a session go with it.
        if self.is_released || self.core.turns().client_calls().is_err() {
            return;
        }
        let request = ReleaseTerminalRequest::new(&self.core.id, &self.id);
        // A connection that has ended has released everything.
        if let Ok(call) = self.core.peer().start_call(&request) {
            call.detach();
        }
    }
}
