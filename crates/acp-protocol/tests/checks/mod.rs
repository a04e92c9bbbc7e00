//! What must hold for any input: shared by tests over a corpus, property tests
//! and the fuzz targets.

pub(crate) mod chunks;
pub(crate) mod connection;
pub(crate) mod decode_v1;
pub(crate) mod intake;
pub(crate) mod line;
