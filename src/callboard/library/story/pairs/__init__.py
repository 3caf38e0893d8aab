"""Pairs: passages of a book that may contradict each other, for somebody to judge."""
