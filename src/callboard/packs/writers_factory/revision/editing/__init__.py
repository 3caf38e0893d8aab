"""Editing: single edits with undo, and texts agents propose for a file."""
