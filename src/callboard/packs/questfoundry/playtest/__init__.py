"""Playtest: a bot that goes every way through a book, in any player that can be asked to play."""
