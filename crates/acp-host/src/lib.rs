//! What a product implements to become an agent of the Agent Client Protocol.
