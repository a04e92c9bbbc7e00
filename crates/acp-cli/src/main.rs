//! The acp program: one command for every agent of the Agent Client Protocol.
fn main() {}
