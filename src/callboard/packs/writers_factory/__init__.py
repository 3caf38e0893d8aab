"""Writers Factory: one Foreman takes a novelist through four gated modes, from idea to book."""
