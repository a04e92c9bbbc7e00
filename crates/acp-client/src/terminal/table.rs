//! Routes the requests for the terminals of one session.

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;

use acp_connection::{BoxFuture, IncomingRequest};
use acp_protocol::method::Request;
use acp_protocol::rpc::Fault;
use acp_protocol::v1::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, ReleaseTerminalRequest,
    TerminalId, TerminalOutputRequest, WaitForTerminalExitRequest, methods,
};
use parking_lot::Mutex;

use super::ServeTerminals;
use crate::error::ServeError;
use crate::folders::clean_path;
use crate::gate::GateWatch;
use crate::limits::MAX_KNOWN_TERMINALS;

/// Serves the requests for the terminals of one session.
pub(crate) trait TerminalRequests: Send + Sync + 'static {
    fn serve(self: Arc<Self>, request: IncomingRequest, gate: GateWatch) -> Option<BoxFuture>;
}

/// The terminals of one session.
///
/// It holds the ids that were given out and not released, so that no agent gets at
/// a terminal of another session, whoever serves them.
pub(super) struct TerminalTable<T> {
    terminals: T,
    ids: Mutex<HashSet<TerminalId>>,
}

impl<T: ServeTerminals> TerminalTable<T> {
    pub(super) fn new(terminals: T) -> Self {
        Self {
            terminals,
            ids: Mutex::default(),
        }
    }

    async fn create(
        &self,
        mut request: CreateTerminalRequest,
        cancelling: bool,
    ) -> Result<CreateTerminalResponse, Fault> {
        if request.command.is_empty() {
            return Err(Fault::invalid_params("the command is empty"));
        }
        if let Some(cwd) = &mut request.cwd {
            clean_path("cwd", cwd)?;
        }
        if cancelling {
            // Nothing new is started after the user said stop.
            return Err(Fault::cancelled());
        }
        if self.ids.lock().len() >= MAX_KNOWN_TERMINALS {
            let limit = MAX_KNOWN_TERMINALS;
            return Err(ServeError::TooManyTerminals { limit }.into());
        }
        let answer = self.terminals.create(request).await?;
        self.ids.lock().insert(answer.terminal_id.clone());
        Ok(answer)
    }

    fn check(&self, id: &TerminalId) -> Result<(), Fault> {
        if id.as_str().is_empty() {
            return Err(Fault::invalid_params("the terminal id is empty"));
        }
        match self.ids.lock().contains(id) {
            true => Ok(()),
            false => Err(ServeError::NoSuchTerminal.into()),
        }
    }
}

impl<T: ServeTerminals> TerminalRequests for TerminalTable<T> {
    fn serve(self: Arc<Self>, request: IncomingRequest, gate: GateWatch) -> Option<BoxFuture> {
        let cancelling = gate.is_cancelling();
        match request.method() {
            methods::TERMINAL_CREATE => run(request, gate, move |create| async move {
                self.create(create, cancelling).await
            }),
            methods::TERMINAL_OUTPUT => run(
                request,
                gate,
                move |output: TerminalOutputRequest| async move {
                    self.check(&output.terminal_id)?;
                    Ok(self.terminals.output(output).await?)
                },
            ),
            methods::TERMINAL_WAIT_FOR_EXIT => run(
                request,
                gate,
                move |wait: WaitForTerminalExitRequest| async move {
                    self.check(&wait.terminal_id)?;
                    Ok(self.terminals.wait_for_exit(wait).await?)
                },
            ),
            methods::TERMINAL_KILL => {
                run(request, gate, move |kill: KillTerminalRequest| async move {
                    self.check(&kill.terminal_id)?;
                    Ok(self.terminals.kill(kill).await?)
                })
            }
            _ => run(
                request,
                gate,
                move |release: ReleaseTerminalRequest| async move {
                    self.check(&release.terminal_id)?;
                    // The id is no more from here on, whatever becomes of the release.
                    self.ids.lock().remove(&release.terminal_id);
                    Ok(self.terminals.release(release).await?)
                },
            ),
        }
    }
}

fn run<R, Fut>(
    request: IncomingRequest,
    gate: GateWatch,
    work: impl FnOnce(R) -> Fut + Send + 'static,
) -> Option<BoxFuture>
where
    R: Request,
    Fut: Future<Output = Result<R::Response, Fault>> + Send,
{
    request.serve(|params: R, context| async move { gate.run(&context, work(params)).await })
}
