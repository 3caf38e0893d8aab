"""`callboard factory`: a novel, from idea to manuscript, with the Foreman."""

from callboard.cli.commands.factory.app import app

__all__ = ["app"]
