"""Generation: recipes and plans that are valid, safe and grounded, whatever model makes them."""
