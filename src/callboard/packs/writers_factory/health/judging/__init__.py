"""Judging: the questions a model is asked about scenes, and the cache of its answers."""
