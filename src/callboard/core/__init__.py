"""Vocabulary, ids, errors, events and settings: what every room may speak about, without I/O."""
