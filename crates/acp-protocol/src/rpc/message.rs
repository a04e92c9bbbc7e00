//! One message of the peer, in the line in which it came, and the body of a response.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{
    Fault, RequestId,
    decoder::decode_member,
    error::clip,
    head::{self, Body, Head, Method, Refused, Shape},
};
use crate::{Mismatch, lenient, mismatch};

/// One message and the line it came in.
#[derive(Clone, Debug)]
pub struct Incoming {
    pub(super) line: Bytes,
    pub(super) head: Head,
}

impl Incoming {
    /// Its shape.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.head.shape
    }

    /// The id of a request or response.
    #[must_use]
    pub fn id(&self) -> Option<&RequestId> {
        self.head.id.as_ref()
    }

    /// The method of a request or notification; empty for a response.
    #[must_use]
    pub fn method(&self) -> &str {
        match &self.head.method {
            Some(Method::Span(span)) => text(&self.line[span.clone()]),
            Some(Method::Text(method)) => method,
            None => "",
        }
    }

    /// The line as it arrived, without its terminator.
    #[must_use]
    pub fn line(&self) -> &str {
        text(&self.line)
    }

    /// The parameters as they arrived; `None` when they are absent.
    #[must_use]
    pub fn raw_params(&self) -> Option<&RawValue> {
        match &self.head.body {
            Body::Exact(span) => serde_json::from_slice(&self.line[span.clone()]).ok(),
            Body::Absent | Body::From(_) => None,
        }
    }

    /// Decodes the parameters; absent ones are read as null, then as `{}`.
    ///
    /// # Errors
    ///
    /// A [`Fault`] with -32602 that names the method, and no value of the peer.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        let decoded = match &self.head.body {
            Body::Exact(span) => lenient::decode(&self.line[span.clone()]),
            Body::From(start) => {
                decode_member(&self.line, *start).map_or_else(|| self.decode_exact(), Ok)
            }
            Body::Absent => serde_json::from_str("null").or_else(|_| serde_json::from_str("{}")),
        };
        decoded.map_err(|error| self.refused(&error))
    }

    /// Names the member for which the parameters are refused.
    #[cold]
    fn refused(&self, error: &serde_json::Error) -> Fault {
        let params = match &self.head.body {
            Body::Absent => b"{}",
            body => exact(&self.line, body).unwrap_or_default(),
        };
        match mismatch::of_params(self.method(), params) {
            Some(mismatch) => Fault::mismatch(self.method(), &mismatch),
            // The error of `serde_json` would quote the peer.
            None => Fault::invalid_params(format!(
                "the parameters do not fit {}, at byte {}",
                clip(self.method()),
                error.column()
            )),
        }
    }

    fn decode_exact<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        lenient::decode(exact(&self.line, &self.head.body).unwrap_or_default())
    }

    /// The result or error of a response, to be kept: small ones are copied, so
    /// that they do not keep a whole chunk alive.
    pub(super) fn into_answer(self) -> RawResponse {
        let Self { line, head } = self;
        let line = if line.len() < 16 << 10 {
            Bytes::copy_from_slice(&line)
        } else {
            line
        };
        RawResponse {
            line,
            body: head.body,
            is_error: head.shape == Shape::Error,
        }
    }

    /// Copies the line out of the chunk it came in, for a message that has to wait: a
    /// short one would keep all of a large chunk.
    pub fn detach(&mut self) {
        self.line = Bytes::copy_from_slice(&self.line);
    }
}

/// A response, not decoded yet.
#[derive(Clone, Debug)]
pub struct RawResponse {
    line: Bytes,
    body: Body,
    is_error: bool,
}

/// Why a [`RawResponse`] could not be decoded.
#[derive(Debug)]
pub enum ResponseError {
    /// It is no response.
    Malformed(super::Issues),
    /// It is one, of another type.
    Decode(serde_json::Error),
}

impl RawResponse {
    /// Tells whether the peer answered with an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.is_error
    }

    /// Names the member for which a result of a method cannot be decoded.
    #[must_use]
    pub fn mismatch(&self, method: &str) -> Option<Mismatch> {
        mismatch::of_result(method, exact(&self.line, &self.body).ok()?)
    }

    /// Decodes the result or error.
    ///
    /// `null` is also read as `{}`: the protocol shows null for results
    /// without members.
    ///
    /// # Errors
    ///
    /// [`ResponseError::Malformed`] when the line turns out to be no response,
    /// [`ResponseError::Decode`] when the result is of another type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, ResponseError> {
        if let Body::From(start) = self.body
            && let Some(value) = decode_member(&self.line, start)
        {
            return Ok(value);
        }
        let body = exact(&self.line, &self.body)
            .map_err(|refused| ResponseError::Malformed(refused.issues))?;
        let decoded = lenient::decode(body);
        match decoded {
            Err(_) if body == b"null" => serde_json::from_str("{}").map_err(ResponseError::Decode),
            decoded => decoded.map_err(ResponseError::Decode),
        }
    }
}

/// The bytes of the body alone.
fn exact<'a>(line: &'a [u8], body: &Body) -> Result<&'a [u8], Refused> {
    let span = match body {
        Body::Exact(span) => span.clone(),
        _ => match head::parse(line)?.body {
            Body::Exact(span) => span,
            _ => 0..0,
        },
    };
    Ok(&line[span])
}

/// Lines were checked to be UTF-8 when they were read.
pub(super) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}
