"""The kitchen's page: talk with Alfred, and see what becomes of it."""
