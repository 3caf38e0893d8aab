"""The eight quality bars of a branching book, computed by code."""
