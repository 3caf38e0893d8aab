"""What somebody says in a kitchen: its words, its clauses, and what is wanted with it."""
