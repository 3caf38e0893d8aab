"""Binding: prose as a tree of plain blocks, and the tree as a book file."""
