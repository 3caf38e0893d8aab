"""Waiting: the calls of a process that want a slot, those that have one, and their order."""
