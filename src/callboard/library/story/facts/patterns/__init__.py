"""Patterns: the English sentences claims are made with."""
