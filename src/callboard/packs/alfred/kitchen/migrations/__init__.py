"""The history of the kitchen's tables, and the way from any point of it to the newest."""
