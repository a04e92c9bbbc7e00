//! Files that go with the prompt.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use acp_protocol::v1::{
    AudioContent, BlobResourceContents, ContentBlock, EmbeddedResource, ImageContent,
    PromptCapabilities, ResourceLink, TextResourceContents,
};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::outcome::Outcome;

/// The largest file that goes into a prompt as a whole; of a larger one the agent gets a
/// link. Models take less, and with several of them a message is still no longer than it
/// may be.
const MAX_WHOLE: u64 = 8 << 20;

/// A file, a folder or an address that goes with the prompt.
#[derive(Debug)]
pub(super) struct Attachment {
    name: String,
    uri: String,
    mime: Option<&'static str>,
    size: Option<u64>,
    body: Body,
}

/// What there is of it.
#[derive(Debug)]
enum Body {
    Text(String),
    Image(Vec<u8>),
    Audio(Vec<u8>),
    Other(Vec<u8>),
    /// A link is all.
    Link,
}

impl Attachment {
    /// Looks at what is to be attached.
    pub(super) fn read(given: &str) -> Result<Self, Outcome> {
        if given.contains("://") {
            let name = given.trim_end_matches('/').rsplit('/').next();
            return Ok(Self {
                name: name.unwrap_or(given).to_owned(),
                uri: given.to_owned(),
                mime: None,
                size: None,
                body: Body::Link,
            });
        }
        Self::of_path(Path::new(given)).map_err(|error| {
            Outcome::usage(
                format!("failed to attach {given}: {error}"),
                "--attach takes a file, a folder or an address",
            )
        })
    }

    fn of_path(path: &Path) -> io::Result<Self> {
        let path = fs::canonicalize(path)?;
        let metadata = path.metadata()?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        let mime = mime(&path);
        let mut attachment = Self {
            name: name.to_string_lossy().into_owned(),
            uri: uri(&path)?,
            mime,
            size: metadata.is_file().then_some(metadata.len()),
            body: Body::Link,
        };
        if !metadata.is_file() && !metadata.is_dir() {
            return Err(io::Error::other("it is neither a file nor a folder"));
        }
        if metadata.is_dir() || metadata.len() > MAX_WHOLE {
            return Ok(attachment);
        }
        let mut bytes = Vec::new();
        File::open(&path)?.take(MAX_WHOLE).read_to_end(&mut bytes)?;
        attachment.body = match mime {
            Some(mime) if mime.starts_with("image/") => Body::Image(bytes),
            Some(mime) if mime.starts_with("audio/") => Body::Audio(bytes),
            _ => match String::from_utf8(bytes) {
                Ok(text) => Body::Text(text),
                Err(error) => Body::Other(error.into_bytes()),
            },
        };
        Ok(attachment)
    }

    /// Makes it what the agent takes: its content where that may be, or else a link, which
    /// every agent takes.
    pub(super) fn block(&self, takes: &PromptCapabilities) -> ContentBlock {
        let mime = self.mime.unwrap_or("application/octet-stream");
        match &self.body {
            Body::Text(text) if takes.embedded_context => {
                let mut text = TextResourceContents::new(text, &self.uri);
                text.mime_type = self.mime.map(str::to_owned);
                EmbeddedResource::new(text).into()
            }
            Body::Other(bytes) if takes.embedded_context => {
                let blob = BlobResourceContents::new(BASE64_STANDARD.encode(bytes), &self.uri);
                EmbeddedResource::new(blob.with_mime_type(mime)).into()
            }
            Body::Image(bytes) if takes.image => {
                ImageContent::new(BASE64_STANDARD.encode(bytes), mime)
                    .with_uri(&self.uri)
                    .into()
            }
            Body::Audio(bytes) if takes.audio => {
                AudioContent::new(BASE64_STANDARD.encode(bytes), mime).into()
            }
            _ => {
                let mut link = ResourceLink::new(&self.name, &self.uri);
                link.mime_type = self.mime.map(str::to_owned);
                link.size = self.size.and_then(|size| i64::try_from(size).ok());
                link.into()
            }
        }
    }
}

/// The kind of a file, by the end of its name; `None` where text is a good guess.
fn mime(path: &Path) -> Option<&'static str> {
    let end = path.extension()?.to_str()?.to_ascii_lowercase();
    Some(match end.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "wav" => "audio/wav",
        "mp3" => "audio/mpeg",
        "ogg" => "audio/ogg",
        "flac" => "audio/flac",
        "pdf" => "application/pdf",
        "json" => "application/json",
        "html" => "text/html",
        "md" => "text/markdown",
        "csv" => "text/csv",
        "txt" => "text/plain",
        _ => return None,
    })
}

/// The address of a file.
fn uri(path: &Path) -> io::Result<String> {
    let text = path.to_str();
    let text = text.ok_or_else(|| io::Error::other("its path is no UTF-8"))?;
    let mut uri = "file://".to_owned();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(byte.into());
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    Ok(uri)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn takes_all() -> PromptCapabilities {
        PromptCapabilities::new()
            .with_image(true)
            .with_audio(true)
            .with_embedded_context(true)
    }

    fn block(name: &str, content: &[u8], takes: &PromptCapabilities) -> (String, Value) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join(name);
        fs::write(&path, content).unwrap();
        let attachment = Attachment::read(path.to_str().unwrap()).unwrap();
        let block = serde_json::to_value(attachment.block(takes)).unwrap();
        (format!("file://{}", path.display()), block)
    }

    #[test]
    fn a_file_becomes_what_the_agent_takes() {
        let all = takes_all();
        let (uri, text) = block("a.md", b"# Hi", &all);
        let expected = json!({"type": "resource", "resource":
            {"text": "# Hi", "uri": uri, "mimeType": "text/markdown"}});
        assert_eq!(text, expected);
        let (uri, image) = block("a.PNG", b"\x89PNG", &all);
        let expected =
            json!({"type": "image", "data": "iVBORw==", "mimeType": "image/png", "uri": uri});
        assert_eq!(image, expected);
        let (_, audio) = block("a.wav", b"RIFF", &all);
        let expected = json!({"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"});
        assert_eq!(audio, expected);
        let (uri, other) = block("a", &[0xff, 0], &all);
        let expected = json!({"type": "resource", "resource":
            {"blob": "/wA=", "uri": uri, "mimeType": "application/octet-stream"}});
        assert_eq!(other, expected);
    }

    #[test]
    fn an_agent_that_takes_nothing_gets_links() {
        let nothing = PromptCapabilities::new();
        for (name, mime) in [("a.md", "text/markdown"), ("a.png", "image/png")] {
            let (uri, link) = block(name, b"abc", &nothing);
            let expected = json!({"type": "resource_link", "name": name, "uri": uri,
                "mimeType": mime, "size": 3});
            assert_eq!(link, expected);
        }
        let folder = tempfile::tempdir().unwrap();
        let folder = Attachment::read(folder.path().to_str().unwrap()).unwrap();
        let link = serde_json::to_value(folder.block(&takes_all())).unwrap();
        assert_eq!(
            (&link["type"], &link["size"]),
            (&json!("resource_link"), &Value::Null)
        );
        let page = Attachment::read("https://example.com/a/b").unwrap();
        let link = serde_json::to_value(page.block(&takes_all())).unwrap();
        let expected =
            json!({"type": "resource_link", "name": "b", "uri": "https://example.com/a/b"});
        assert_eq!(link, expected);
    }

    #[test]
    fn addresses_of_files_are_spelled_as_the_web_does() {
        let spelled = uri(Path::new("/a b/ä?#.txt")).unwrap();
        assert_eq!(spelled, "file:///a%20b/%C3%A4%3F%23.txt");
    }

    #[test]
    fn what_is_not_there_is_told() {
        let refused = Attachment::read("/no/such/file").unwrap_err();
        let message = refused.failure.unwrap().message;
        assert!(
            message.starts_with("failed to attach /no/such/file: "),
            "{message}"
        );
    }
}
