//! Options of a session that the client sets.

use std::sync::Arc;

use acp_connection::Context;
use acp_host::{ConfigChange, ConfigOption};
use acp_protocol::{
    Request,
    rpc::Fault,
    v1::{
        ConfigOptionUpdate, CurrentModeUpdate, SessionConfigOption, SessionConfigOptionValue,
        SessionConfigValueId, SessionId, SessionUpdate, SetSessionConfigOptionRequest,
        SetSessionConfigOptionResponse, SetSessionModeRequest, SetSessionModeResponse,
    },
};

use crate::{
    fault,
    host_call::{HostPanicked, call_host},
    refused::RefusedMember,
    serve::connection::{ConnectionState, Served},
    serve::registration::ConfigAccess,
    session::Session,
    session::unsent::UnsentEvent,
    turn::draft::PendingEvent,
    wire,
};

impl ConnectionState {
    pub(super) async fn set_config_option(
        self: Arc<Self>,
        params: Result<SetSessionConfigOptionRequest, Fault>,
        context: Context,
    ) -> Served<SetSessionConfigOptionResponse> {
        let method = SetSessionConfigOptionRequest::METHOD;
        self.admit(method, &context).await?;
        let params = params?;
        let (session, option) = (&params.session_id, params.config_id.as_str());
        let set = self.set_option(method, session, option, params.value, &context);
        Ok((SetSessionConfigOptionResponse::new(set.await?), None))
    }

    /// A mode is the option with the well-known id.
    pub(super) async fn set_mode(
        self: Arc<Self>,
        params: Result<SetSessionModeRequest, Fault>,
        context: Context,
    ) -> Served<SetSessionModeResponse> {
        let method = SetSessionModeRequest::METHOD;
        self.admit(method, &context).await?;
        let params = params?;
        let mode = SessionConfigValueId::from(params.mode_id.as_str());
        let mode = SessionConfigOptionValue::ValueId(mode);
        self.set_option(
            method,
            &params.session_id,
            ConfigOption::MODE,
            mode,
            &context,
        )
        .await?;
        Ok((SetSessionModeResponse::new(), None))
    }

    /// Sets an option of a live session, unless the request is cancelled, and gives all
    /// options.
    async fn set_option(
        &self,
        method: &'static str,
        session: &SessionId,
        option: &str,
        value: SessionConfigOptionValue,
        context: &Context,
    ) -> Result<Vec<SessionConfigOption>, Fault> {
        let session = self.live(method, session)?;
        let setting = Setting {
            state: self,
            session: &session,
            method,
            option,
        };
        let set = context.run_until_cancelled(setting.set(value)).await;
        set.ok_or_else(Fault::cancelled)?
    }
}

/// One option that is being set.
struct Setting<'a> {
    state: &'a ConnectionState,
    session: &'a Session,
    method: &'static str,
    option: &'a str,
}

impl Setting<'_> {
    /// Sets the option, informs the client, and gives all options.
    async fn set(
        &self,
        value: SessionConfigOptionValue,
    ) -> Result<Vec<SessionConfigOption>, Fault> {
        let method = self.method;
        let ConfigAccess::Settable(controller) = &self.state.agent.config else {
            return Err(Fault::method_not_found(method));
        };
        let core = &self.session.core;
        let id = self.session.live.id();
        let shows_switches = core.client.boolean_options;
        // What is checked here must still hold when it is set.
        let _turn = self.session.setting.lock().await;
        let options = fault::called(method, call_host(|| controller.options(id)).await)?;

        let Some(option) = options.iter().find(|option| option.id == self.option) else {
            return Err(
                if self.option == ConfigOption::MODE && method == MODE_METHOD {
                    fault::internal(method, "this session has no modes")
                } else {
                    let problem = "the session has no such option";
                    let expected = "the id of an option of the session";
                    RefusedMember::new("configId", problem, expected).into_fault(method)
                },
            );
        };
        let Some(value) = wire::config_value(option, value, shows_switches) else {
            let member = match method {
                MODE_METHOD => "modeId",
                _ => "value",
            };
            let problem = "the option cannot be set to this";
            let refused = RefusedMember::new(member, problem, "a value that the option offers");
            return Err(refused.into_fault(method));
        };
        if option.value() == value {
            return Ok(wire::config_options(options, shows_switches));
        }
        let change = ConfigChange::new(self.option, value);
        let set = fault::called(method, call_host(|| controller.set(id, change)).await)?;
        // Events that the host reported meanwhile are sent before this, and are part of it.
        let _queue = core.event_queue().lock_owned().await;
        let changed = match call_host(|| controller.options(id)).await {
            Ok(Ok(now)) => now,
            // It is set; only what came of it meanwhile is not known.
            Ok(Err(_)) | Err(HostPanicked(_)) => set,
        };

        let mode =
            |options: &[ConfigOption]| wire::mode_state(options).map(|state| state.current_mode_id);
        let new_mode = mode(&changed).filter(|new| mode(&options).as_ref() != Some(new));
        let changed = wire::config_options(changed, shows_switches);
        self.send(ConfigOptionUpdate::new(changed.clone()).into())
            .await?;
        if let Some(mode) = new_mode {
            self.send(CurrentModeUpdate::new(mode).into()).await?;
        }
        Ok(changed)
    }

    async fn send(&self, update: SessionUpdate) -> Result<(), Fault> {
        let event = PendingEvent::of_updates(vec![update]);
        let core = &self.session.core;
        let waiting = UnsentEvent::new(event, None).wait(core, &mut core.turns(), None);
        waiting.send().await.map_err(|error| {
            fault::internal(self.method, "the change cannot be sent").with_source(error)
        })
    }
}

const MODE_METHOD: &str = SetSessionModeRequest::METHOD;
