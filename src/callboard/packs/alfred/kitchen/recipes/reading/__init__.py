"""Recipes read from files and pasted text; nothing is written, fetched or run."""
