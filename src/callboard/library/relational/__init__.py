"""Relational data that people talk about: reading, writing and undoing, for any domain."""
