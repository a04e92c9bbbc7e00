//! Words of the protocol: names of members, tags of variants.

use serde::{Serialize, Serializer};

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
