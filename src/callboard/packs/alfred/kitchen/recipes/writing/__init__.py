"""Recipes, meal plans and shopping lists written for people and for other programs."""
