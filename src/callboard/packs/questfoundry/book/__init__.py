"""The branching book: its shape, and what it is to play it."""
