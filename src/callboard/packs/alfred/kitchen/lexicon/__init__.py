"""What the kitchen knows about food by its name: categories, aisles, densities, allergens."""

from callboard.packs.alfred.kitchen.lexicon.foods import FoodFacts, category_words, food_facts

__all__ = ["FoodFacts", "category_words", "food_facts"]
