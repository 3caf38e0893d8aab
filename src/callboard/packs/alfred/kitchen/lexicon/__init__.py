"""What the kitchen knows about food by its name: categories, aisles, densities, allergens."""

from callboard.packs.alfred.kitchen.lexicon.foods import FoodFacts, food_facts

__all__ = ["FoodFacts", "food_facts"]
