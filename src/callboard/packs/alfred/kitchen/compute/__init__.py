"""The kitchen's arithmetic: rows in, plain data out. Nothing here reads a database."""

from callboard.packs.alfred.kitchen.compute.functions import compute_functions

__all__ = ["compute_functions"]
