"""Conferences: the whole staff looks at one question."""
