"""The database, its schema and migrations, and the readable mirror of a run."""
