//! Names under which values pass through `serde`, and the words of the protocol: names of
//! members, tags of variants.

use serde::{Serialize, Serializer};

/// The name under which `serde_json` passes a value as text; `RawValue` asks for the same.
///
/// A deserializer that does not know it gives a tree instead, which is encoded again:
/// slower, never wrong.
pub(crate) const RAW_TOKEN: &str = "$serde_json::private::RawValue";

/// The name under which a [`Word`] is written. A writer that knows it need not look
/// for what is to be escaped; every other one writes a text.
pub(crate) const WORD_TOKEN: &str = "$acp_protocol::Word";

/// A word of the protocol, which holds nothing that JSON escapes.
pub(crate) struct Word(pub(crate) &'static str);

impl Serialize for Word {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(WORD_TOKEN, self.0)
    }
}
