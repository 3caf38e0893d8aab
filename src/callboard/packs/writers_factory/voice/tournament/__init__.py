"""Tournaments: several models write one passage by several strategies, and all are scored."""
