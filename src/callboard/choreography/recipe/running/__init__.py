"""Executing a recipe: phase A, phase B, commit, definition of done."""
