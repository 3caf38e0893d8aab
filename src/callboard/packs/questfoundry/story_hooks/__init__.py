"""Story hooks: ideas and loose ends, from the moment somebody raises them."""
