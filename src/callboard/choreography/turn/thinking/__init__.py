"""Thinking: a request becomes a plan of steps in groups, checked before anything runs."""
