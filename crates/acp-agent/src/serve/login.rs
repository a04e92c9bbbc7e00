//! Who may begin sessions: logins, logouts, and the gate that they move.

use std::sync::{Arc, atomic::Ordering};

use acp_connection::Context;
use acp_host::{AuthKind, AuthMethod, HostError};
use acp_protocol::{
    Request,
    rpc::Fault,
    v1::{self, AuthenticateRequest, AuthenticateResponse, LogoutRequest, LogoutResponse},
};

use crate::{
    fault,
    host_call::{HostCall, call_host},
    refused::RefusedMember,
    serve::connection::{ConnectionState, Served},
};

impl ConnectionState {
    /// Whether prompts, lists, deletions and options may be served: somebody has to be
    /// logged in, unless the agent has no login or is lenient.
    ///
    /// # Errors
    ///
    /// As [`authorize`](Self::authorize).
    pub(super) async fn authorize_strictly(&self, method: &str) -> Result<(), Fault> {
        match self.agent.strict_login {
            true => self.authorize(method).await,
            false => Ok(()),
        }
    }

    /// The same, until the request is cancelled.
    pub(super) async fn admit(&self, method: &str, context: &Context) -> Result<(), Fault> {
        let authorized = context
            .run_until_cancelled(self.authorize_strictly(method))
            .await;
        authorized.unwrap_or_else(|| Err(Fault::cancelled()))
    }

    /// Whether sessions may be begun, resumed and loaded: nobody has to log in,
    /// or somebody has.
    ///
    /// # Errors
    ///
    /// -32000; the client is to log in and try again.
    pub(super) async fn authorize(&self, method: &str) -> Result<(), Fault> {
        let Some(login) = &self.agent.login else {
            return Ok(());
        };
        if self.is_logged_in.load(Ordering::Acquire) {
            return Ok(());
        }
        match call_host(|| login.authenticator.is_logged_in()).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Fault::auth_required()),
            Err(panicked) => Err(fault::from_panic(method, panicked)),
        }
    }

    pub(super) async fn authenticate(
        self: Arc<Self>,
        params: Result<AuthenticateRequest, Fault>,
        context: Context,
    ) -> Served<AuthenticateResponse> {
        let method = AuthenticateRequest::METHOD;
        let id = params?.method_id;
        let Some(login) = &self.agent.login else {
            return Err(Fault::method_not_found(method));
        };
        let refuse = |problem| {
            let expected = "the id of a method that the agent advertised";
            Err(RefusedMember::new("methodId", problem, expected).into_fault(method))
        };
        match login.methods.iter().find(|known| known.id == id.as_str()) {
            None => return refuse("this agent advertised no such method"),
            Some(AuthMethod {
                kind: AuthKind::Terminal { .. },
                ..
            }) => return refuse("this login runs in a terminal"),
            Some(_) => {}
        }
        let call = call_host(|| login.authenticator.authenticate(id.as_str()));
        self.in_turn(method, call, true, &context).await?;
        Ok((AuthenticateResponse::new(), None))
    }

    pub(super) async fn logout(
        self: Arc<Self>,
        params: Result<LogoutRequest, Fault>,
        context: Context,
    ) -> Served<LogoutResponse> {
        let method = LogoutRequest::METHOD;
        params?;
        let Some(handler) = &self.agent.logout else {
            return Err(Fault::method_not_found(method));
        };
        let call = call_host(|| handler.logout());
        self.in_turn(method, call, false, &context).await?;
        Ok((LogoutResponse::new(), None))
    }

    /// Lets logins and logouts follow one another, up to what they leave behind; who
    /// waits for its turn can still be cancelled.
    async fn in_turn(
        &self,
        method: &str,
        call: HostCall<'_, Result<(), HostError>>,
        logs_in: bool,
        context: &Context,
    ) -> Result<(), Fault> {
        let work = async {
            let _turn = self.login.lock().await;
            let done = call.await;
            if matches!(done, Ok(Ok(()))) {
                self.is_logged_in.store(logs_in, Ordering::Release);
            }
            done
        };
        let done = context.run_until_cancelled(work).await;
        fault::called(method, done.ok_or_else(Fault::cancelled)?)
    }
}

/// The ways to log in that a client can go (R047).
pub(super) fn methods(methods: &[AuthMethod], has_terminal: bool) -> Vec<v1::AuthMethod> {
    let methods = methods.iter().filter_map(|method| match &method.kind {
        AuthKind::Terminal { .. } if !has_terminal => None,
        AuthKind::Terminal { args, env } => {
            let mut wire = v1::AuthMethodTerminal::new(method.id.as_str(), method.name.as_str());
            wire.description.clone_from(&method.description);
            wire.args.clone_from(args);
            wire.env = env
                .iter()
                .map(|(name, value)| (name.clone(), value.expose().to_owned()))
                .collect();
            Some(wire.into())
        }
        AuthKind::Agent => {
            let mut wire = v1::AuthMethodAgent::new(method.id.as_str(), method.name.as_str());
            wire.description.clone_from(&method.description);
            Some(wire.into())
        }
    });
    methods.collect()
}
