"""Artifacts: what roles hand in, each kind with one shape."""
