"""The kitchen: recipes, stock, lists, plans, tasks and what was cooked."""
