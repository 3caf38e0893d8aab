"""Completion: the writer's word that the book is done, and the book as files."""
