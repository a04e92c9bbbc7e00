//! The Agent Client Protocol.
pub mod method;
pub mod rpc;
pub use method::{Notification, Request};
/// placeholder
pub mod v1 {
    /// p
    pub type SessionUpdate = serde_json::Value;
    /// p
    pub type Meta = serde_json::Map<String, serde_json::Value>;
    /// p
    #[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
    pub struct SessionId(pub std::sync::Arc<str>);
    impl AsRef<str> for SessionId {
        fn as_ref(&self) -> &str {
            &self.0
        }
    }
}
