"""Recipes in and out of the kitchen: read from files, written to files, without a model."""
