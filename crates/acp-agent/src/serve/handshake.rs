//! What both sides say of themselves in `initialize`.

use acp_connection::IncomingRequest;
use acp_host::ClientFeatures;
use acp_protocol::{
    rpc::Fault,
    v1::{
        AgentAuthCapabilities, AgentCapabilities, InitializeRequest, InitializeResponse,
        LogoutCapabilities, McpCapabilities, PromptCapabilities,
        SessionAdditionalDirectoriesCapabilities, SessionCapabilities, SessionCloseCapabilities,
        SessionDeleteCapabilities, SessionListCapabilities, SessionResumeCapabilities,
        methods::AgentMethod,
    },
};

use crate::{limits::MAX_CLIENT_NAME, serve::login, serve::registration::Registration};

/// The one version of the protocol that is spoken, whatever is asked for
/// (R032, R033).
const VERSION: u16 = 1;

/// What the client asks for. Without parameters, everything has its default.
///
/// # Errors
///
/// -32602 that names the member: some clients send the version as a text or a date.
pub(super) fn request(request: &IncomingRequest) -> Result<InitializeRequest, Fault> {
    let is_empty = request
        .raw_params()
        .is_none_or(|params| params.get() == "null");
    if is_empty {
        return Ok(InitializeRequest::new(VERSION));
    }
    request.decode()
}

/// What the client can do: what it did not name, it cannot (R036).
pub(super) fn client_features(request: &InitializeRequest) -> ClientFeatures {
    let capabilities = &request.client_capabilities;
    let session = capabilities.session.as_ref();
    let elicitation = capabilities.elicitation.as_ref();
    let mut features = ClientFeatures::default();
    features.read_text_file = capabilities.fs.read_text_file;
    features.write_text_file = capabilities.fs.write_text_file;
    features.terminal = capabilities.terminal;
    features.forms = elicitation.is_some_and(|modes| modes.form.is_some());
    features.urls = elicitation.is_some_and(|modes| modes.url.is_some());
    features.boolean_options = session
        .and_then(|session| session.config_options.as_ref())
        .is_some_and(|options| options.boolean.is_some());
    features.notices = session.is_some_and(|session| session.notices.is_some());
    features.compaction = session.is_some_and(|session| session.compaction.is_some());
    features.terminal_login = capabilities.auth.terminal;
    let short = |text: &String| text.chars().take(MAX_CLIENT_NAME).collect();
    let info = request.client_info.as_ref();
    features.name = info.map(|info| short(&info.name));
    features.version = info.map(|info| short(&info.version));
    features
}

/// What the agent can do: exactly what was registered with its builder.
pub(super) fn response(agent: &Registration, client: &ClientFeatures) -> InitializeResponse {
    let mut sessions = SessionCapabilities::new();
    sessions.additional_directories = agent
        .setup
        .additional_directories
        .then(SessionAdditionalDirectoriesCapabilities::new);
    let serves = |method| agent.serves(method);
    sessions.close = serves(AgentMethod::SessionClose).then(SessionCloseCapabilities::new);
    sessions.resume = serves(AgentMethod::SessionResume).then(SessionResumeCapabilities::new);
    sessions.list = serves(AgentMethod::SessionList).then(SessionListCapabilities::new);
    sessions.delete = serves(AgentMethod::SessionDelete).then(SessionDeleteCapabilities::new);
    let prompt = PromptCapabilities::new()
        .with_image(agent.prompt.image)
        .with_audio(agent.prompt.audio)
        .with_embedded_context(agent.prompt.resource);
    let mcp = McpCapabilities::new()
        .with_http(agent.setup.mcp.http)
        .with_sse(agent.setup.mcp.sse);
    let mut auth = AgentAuthCapabilities::new();
    auth.logout = serves(AgentMethod::Logout).then(LogoutCapabilities::new);
    let mut capabilities = AgentCapabilities::new()
        .with_prompt_capabilities(prompt)
        .with_mcp_capabilities(mcp)
        .with_session_capabilities(sessions);
    capabilities.load_session = serves(AgentMethod::SessionLoad);
    capabilities.auth = auth;
    let mut response = InitializeResponse::new(VERSION)
        .with_agent_capabilities(capabilities)
        .with_agent_info(agent.info.clone());
    if let Some(login) = &agent.login {
        response.auth_methods = login::methods(&login.methods, client.terminal_login);
    }
    response
}
