//! Lists of name and value, which some programs write as objects.

use crate::codec::rule::Pair;
use crate::v1::{EnvVariable, HttpHeader};

impl Pair for EnvVariable {
    fn pair(name: String, value: String) -> Self {
        Self::new(name, value)
    }
}

impl Pair for HttpHeader {
    fn pair(name: String, value: String) -> Self {
        Self::new(name, value)
    }
}
