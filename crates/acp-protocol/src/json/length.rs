//! How long a value is as JSON, without writing it.

use std::io;

use serde::Serialize;

/// Returns the bytes that a value takes as JSON: a measure of what a peer sent, for a
/// bound in bytes. A value that cannot be written is as long as no bound allows.
pub fn json_length<T: Serialize + ?Sized>(value: &T) -> usize {
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        Err(_) => usize::MAX,
    }
}

/// Counts bytes.
struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_as_long_as_its_text() {
        for text in ["null", r#"{"a":[1,2.5,"x\n"]}"#, r#""\"""#] {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            assert_eq!(json_length(&value), text.len(), "{text}");
        }
        let none = std::collections::BTreeMap::from([((1, 2), 3)]);
        assert_eq!(json_length(&none), usize::MAX, "no key of an object");
    }
}
