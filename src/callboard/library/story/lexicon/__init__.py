"""Lexicons: English word lists as data, and their loader."""
