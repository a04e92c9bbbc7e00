//! Everything the workspace automates.

fn main() {}
