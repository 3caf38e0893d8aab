"""Tools any pack can use: they read, search, measure and write the project's text files."""

from callboard.tools.builtin.shelf import BUILTIN_TOOLS

__all__ = ["BUILTIN_TOOLS"]
