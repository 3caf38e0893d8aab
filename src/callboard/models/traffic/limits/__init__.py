"""Limits: what a provider's "too many requests" does to the calls behind one credential."""
