"""Alfred: a kitchen assistant with a clean memory and a real database."""
