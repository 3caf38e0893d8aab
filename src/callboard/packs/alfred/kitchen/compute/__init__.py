"""The kitchen's arithmetic: rows in, plain data out. Nothing here reads a database."""
