//! One call of the chat API, and its streamed answer.

use std::time::Duration;

use acp_agent::{
    host::{SecretText, TurnFailure},
    kit::TurnError,
};
use reqwest::{Response, StatusCode, header::RETRY_AFTER};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    answer::{Piece, Reading, Said},
    config::Config,
    conversation::Message,
    sse::{Events, TooLong},
};

/// How long it may take until there is a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// How long the model may be silent. Some think for minutes.
const SILENCE: Duration = Duration::from_secs(300);

/// How much is read of an answer that is an error.
const MAX_ERROR: usize = 64 << 10;

/// The way to the API.
#[derive(Debug)]
pub(crate) struct Model {
    http: reqwest::Client,
    url: String,
    key: Option<SecretText>,
}

/// Why the model did not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ModelError {
    #[error("reach the model")]
    Unreachable(#[source] reqwest::Error),
    #[error("have the model answer: {message}")]
    Refused {
        status: StatusCode,
        message: String,
        code: Option<String>,
        retry_after: Option<Duration>,
    },
    #[error("hear the model out: the answer broke off")]
    BrokeOff,
    #[error("understand the model")]
    Malformed(#[source] serde_json::Error),
    #[error("understand the model: it said too much at once")]
    TooMuch,
}

/// An answer on its way. Dropped, it closes the connection, and the model stops.
#[derive(Debug)]
pub(crate) struct Answer {
    response: Response,
    events: Events,
    reading: Reading,
}

impl Model {
    pub(crate) fn new(config: &Config) -> Result<Self, reqwest::Error> {
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            .read_timeout(SILENCE)
            .build()?;
        Ok(Self {
            http,
            url: format!("{}/chat/completions", config.base_url),
            key: config.key.clone(),
        })
    }

    /// Asks a model for its next message.
    pub(crate) async fn ask(
        &self,
        model: &str,
        messages: &[Message],
        tools: &[Value],
    ) -> Result<Answer, ModelError> {
        let body = json!({
            "model": model,
            "messages": messages,
            "tools": tools,
            "stream": true,
            "stream_options": {"include_usage": true},
        });
        let mut request = self.http.post(&self.url).json(&body);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key.expose());
        }
        let response = request.send().await.map_err(unreachable)?;
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        Ok(Answer {
            response,
            events: Events::default(),
            reading: Reading::default(),
        })
    }

    /// What the API says of why it does not answer, without the key, which some
    /// repeat.
    async fn refusal(&self, mut response: Response) -> ModelError {
        let status = response.status();
        let retry_after = response.headers().get(RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
        let mut body = Vec::new();
        while let Ok(Some(chunk)) = response.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_ERROR {
                break;
            }
        }
        let (message, code) = match serde_json::from_slice::<Failed>(&body) {
            Ok(failed) => (failed.error.message, failed.error.code),
            Err(_) => (status.to_string(), None),
        };
        let message = match &self.key {
            Some(key) => message.replace(key.expose(), "***"),
            None => message,
        };
        ModelError::Refused {
            status,
            message,
            code: code.and_then(|code| code.as_str().map(str::to_owned)),
            retry_after: retry_after.map(Duration::from_secs),
        }
    }
}

impl Answer {
    /// Waits for the next piece.
    pub(crate) async fn next(&mut self) -> Result<Piece, ModelError> {
        loop {
            if let Some(piece) = self.reading.ready.pop_front() {
                return Ok(piece);
            }
            let chunk = self.response.chunk().await.map_err(unreachable)?;
            let Some(chunk) = chunk else {
                self.reading.end()?;
                continue;
            };
            for event in self
                .events
                .push(&chunk)
                .map_err(|TooLong| ModelError::TooMuch)?
            {
                self.reading.event(&event)?;
            }
        }
    }
}

#[derive(Deserialize)]
struct Failed {
    error: Said,
}

fn unreachable(error: reqwest::Error) -> ModelError {
    // The address may hold a key.
    ModelError::Unreachable(error.without_url())
}

impl ModelError {
    /// What the user reads of it: all that helps, and nothing secret.
    pub(crate) fn for_user(self) -> TurnError {
        match self {
            Self::Refused {
                code: Some(code), ..
            } if code == "context_length_exceeded" => {
                TurnError::failure(TurnFailure::ContextOverflow)
            }
            Self::Refused {
                status: StatusCode::TOO_MANY_REQUESTS,
                retry_after,
                ..
            } => TurnError::failure(TurnFailure::RateLimited { retry_after }),
            Self::Refused {
                status: StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN,
                message,
                ..
            } => TurnError::public(format!("the model wants another OPENAI_API_KEY: {message}")),
            Self::Refused { message, .. } => {
                TurnError::public(format!("the model does not answer: {message}"))
            }
            Self::Unreachable(error) if error.is_timeout() => {
                TurnError::public("the model does not answer in time")
            }
            Self::Unreachable(error) if error.is_connect() => {
                TurnError::public("the model cannot be reached; is OPENAI_BASE_URL right?")
            }
            Self::Unreachable(_) | Self::BrokeOff => {
                TurnError::public("the answer of the model broke off")
            }
            Self::Malformed(_) | Self::TooMuch => {
                TurnError::public("what the model says cannot be understood")
            }
        }
    }
}
