//! The Agent Client Protocol: types generated from its schema, and JSON-RPC 2.0 as a state machine without I/O.
