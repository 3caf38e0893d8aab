"""Canon: what is true in the world of a book, as statements, and what contradicts it."""
