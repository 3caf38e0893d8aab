"""Ingredient lines as people write them, read without a model."""
